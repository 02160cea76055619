//! The store as gates, readers and other processes use it.

mod files;
mod journal;
mod processes;
mod support;
