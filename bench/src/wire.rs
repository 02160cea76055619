//! Values of the wire: an entity snapshot from bytes to bytes, beside what `serde_json` takes for its parse alone.

use anyhow::ensure;
use callgate_schema::json::Tape;
use callgate_wire::{EntitySnapshot, Json, ValueLimits};
use serde_json::Value;

use crate::turns::{TURNS, batch};

const SNAPSHOT: &str = include_str!("../cases/snapshot.json");

pub fn run() -> anyhow::Result<()> {
    let compact = Json::parse(SNAPSHOT)?.into_string();
    let bytes = compact.as_bytes();
    let limits = ValueLimits::default().text();
    let mut tape = Tape::new();
    let mut ours = || {
        let node = tape.read(bytes, &limits).ok()?;
        Some(EntitySnapshot::of(node).ok()?.to_json())
    };
    let theirs = || serde_json::from_slice::<Value>(bytes).ok();
    let both = || serde_json::to_string(&theirs()?).ok();
    ensure!(
        ours().is_some_and(|text| text.as_str() == compact),
        "the snapshot is not printed as it was read"
    );
    ensure!(both().is_some(), "the peer does not read it");
    let mut least = [f64::MAX; 4];
    for _ in 0..TURNS {
        let turn = [
            batch(&mut ours),
            batch(|| EntitySnapshot::parse(bytes).ok().map(|snapshot| snapshot.to_json())),
            batch(theirs),
            batch(both),
        ];
        for (least, now) in least.iter_mut().zip(turn) {
            *least = least.min(now);
        }
    }
    let [ours, fresh, parse, print] = least;
    println!("entity snapshot of {} bytes; nanoseconds, least of {TURNS} turns\n", bytes.len());
    println!("callgate, parsed, checked and printed, tape used again  {ours:>8.0}");
    println!("callgate, the same with a tape of its own               {fresh:>8.0}");
    println!("serde_json, parsed                                      {parse:>8.0}");
    println!("serde_json, parsed and printed                          {print:>8.0}");
    println!("\nratio to serde_json's parse alone: {:.2}", parse / ours);
    Ok(())
}
