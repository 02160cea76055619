//! The values of the wire: what is written, what is read back, and what is refused.

mod entities;
mod example;
mod generate;
mod resources;
mod results;
