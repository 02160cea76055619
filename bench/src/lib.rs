//! What the measurements share: cases, engines side by side, turns. Machines are noisy, so everything that is compared is
//! measured in turns within one run, and ratios are what counts.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads clocks and files, and prints what it measured"
)]

pub mod callers;
pub mod case;
pub mod coercion;
pub mod engine;
pub mod gate;
pub mod instructions;
pub mod peers;
pub mod serve;
pub mod stages;
pub mod turns;
pub mod wire;

mod sonic;

/// The value below which `percent` of a hundred of the sorted values lie.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let at = (sorted.len().saturating_sub(1)) * percent / 100;
    sorted.get(at).copied().unwrap_or_default()
}

/// The geometric mean.
fn geometric_mean(values: &[f64]) -> f64 {
    let count = u32::try_from(values.len().max(1)).map_or(1.0, f64::from);
    (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp()
}
