//! The rows of the project's own tests: many small schemas of all kinds. All good values in a row are one measurement.

use anyhow::{Result, bail};

use crate::case::{self, Row};
use crate::peers::{BOON, Engines, JSONSCHEMA, OURS, SONIC};
use crate::turns::{Contest, Key, Times};

/// What was sampled, and the times of a pass over all of it.
#[derive(Debug)]
pub(super) struct Sample {
    /// Values that keep their schemas, and their bytes.
    pub(super) good: usize,
    pub(super) good_bytes: usize,
    /// Values that do not.
    pub(super) bad: usize,
    /// Rows that are left out since a peer refuses the schema, cannot read the value or says something else of it.
    pub(super) left_out: usize,
    pub(super) times: Times,
}

type Rows = Vec<(Engines, Row)>;

pub(super) fn measure(turns: usize) -> Result<Sample> {
    let (mut good, mut bad, mut left_out): (Rows, Rows, usize) = (Vec::new(), Vec::new(), 0);
    for row in case::rows()? {
        let Some(engines) = shared(&row)? else {
            left_out += 1;
            continue;
        };
        if row.good { &mut good } else { &mut bad }.push((engines, row));
    }
    let mut contest = Contest::default();
    let mut enter = |what, rows, who, look: fn(&Engines, &[u8]) -> usize| {
        let rows: &Rows = rows;
        let pass = move || rows.iter().map(|(engines, row)| look(engines, &row.instance)).sum::<usize>();
        contest.enter(Key { from: "bytes", what, who }, pass);
    };
    enter("valid", &good, OURS, |engines, text| usize::from(engines.ours_of(text)));
    enter("valid", &good, JSONSCHEMA, |engines, text| usize::from(engines.jsonschema_of(text)));
    enter("valid", &good, SONIC, |engines, text| usize::from(engines.on_sonic_of(text)));
    enter("valid", &good, BOON, |engines, text| usize::from(engines.boon_of(text)));
    enter("invalid", &bad, OURS, |engines, text| engines.ours_told(text).len());
    enter("invalid", &bad, JSONSCHEMA, |engines, text| engines.jsonschema_told(text).len());
    enter("invalid", &bad, BOON, |engines, text| engines.boon_told(text).len());
    let times = contest.run(turns);
    Ok(Sample {
        good: good.len(),
        good_bytes: good.iter().map(|(_, row)| row.instance.len()).sum(),
        bad: bad.len(),
        left_out,
        times,
    })
}

/// The engines of a row, if all of them take its schema and say what the row says.
///
/// # Errors
/// Ours says something else than the row.
fn shared(row: &Row) -> Result<Option<Engines>> {
    let Ok(engines) = Engines::compile(&row.schema) else { return Ok(None) };
    let mut all = true;
    for (who, verdict) in engines.verdicts(&row.instance) {
        let agrees = verdict == row.good;
        // What a `Value` has lost cannot be refused, so that only the forms that read a text have to agree.
        if !agrees && who.starts_with(OURS) && !who.contains("Value") {
            bail!("the row `{}`: {who} says {verdict}", row.name);
        }
        all &= agrees;
    }
    Ok(all.then_some(engines))
}
