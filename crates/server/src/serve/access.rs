//! Which requests over HTTP are looked at, and how clients show who they are: what a new configuration can change together.

use super::auth::Auth;
use super::edge::Edge;

/// What a request over HTTP has to pass before anything of it is looked at.
pub struct Access {
    pub(super) edge: Edge,
    pub(super) auth: Auth,
}

impl Access {
    /// These further names of the gate, these origins of pages that may ask it, and how clients show who they are.
    pub fn new(hosts: Vec<String>, origins: Vec<String>, auth: Auth) -> Access {
        Access { edge: Edge::new(hosts, origins), auth }
    }
}
