//! The proofs.
