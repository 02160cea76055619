//! The rules decide. Without any rule, every call of an admitted tool is permitted, and the decision says so.

use super::Bound;

/// A permission, with the names of the rules that determined it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permit {
    /// The rules, in their order; `no-rules` where there are none at all.
    pub determining: Vec<String>,
}

/// A call that its principal may make.
#[derive(Debug)]
pub struct Authorized<'a> {
    pub(super) bound: Bound<'a>,
    permit: Permit,
}

impl<'a> Bound<'a> {
    /// Decides whether the principal may make this call.
    pub fn authorize(self) -> Authorized<'a> {
        Authorized { bound: self, permit: Permit { determining: vec!["no-rules".to_owned()] } }
    }
}

impl Authorized<'_> {
    /// The rules that ask a person, with the digest of their set, if any do.
    pub(super) fn asks(&self) -> Option<(callgate_schema::json::Digest, Vec<String>)> {
        None
    }

    /// Why the call is permitted.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }
}
