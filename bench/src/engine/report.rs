//! The figures as tables for people, and as JSON.

use std::fmt::{self, Display};

use serde_json::{Value, json};

use super::corpus::Sample;
use super::goals;
use super::growth::Point;
use super::measure::{FLOORS, Figures};
use crate::peers::{BOON, JSONSCHEMA, OURS, SONIC};
use crate::turns::Times;

/// Everything that was measured.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) turns: usize,
    pub(super) cases: Vec<Figures>,
    pub(super) sample: Option<Sample>,
    pub(super) growth: Vec<Point>,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "nanoseconds, the least of {} turns; × is the peer's time by ours: above 1 we are faster",
            self.turns
        )?;
        valid(f, &self.cases)?;
        refused(f, &self.cases)?;
        of_values(f, &self.cases)?;
        compile(f, &self.cases)?;
        allocations(f, &self.cases)?;
        if let Some(sample) = &self.sample {
            sampled(f, sample)?;
        }
        growth(f, &self.growth)?;
        writeln!(f, "\nwhat it is meant to hold")?;
        for goal in goals::of(&self.cases) {
            let mark = match goal.holds() {
                Some(true) => "holds",
                Some(false) => "MISSED",
                None => "",
            };
            let case = goal.case.as_ref().map_or_else(String::new, |case| format!(" ({case})"));
            let wanted = goal.wanted.map_or_else(String::new, |wanted| format!("{} {wanted}", goal.sign()));
            writeln!(f, "{mark:<6} {:>7.2} {wanted:<6} {}{case}", goal.found, goal.text)?;
        }
        Ok(())
    }
}

fn valid(f: &mut fmt::Formatter<'_>, cases: &[Figures]) -> fmt::Result {
    writeln!(f, "\nfrom bytes to the verdict on a good value; the last three only parse")?;
    writeln!(
        f,
        "{:<10}{:>7} |{:>9} |{:>12}{:>7} |{:>12}{:>7} |{:>9}{:>7} |{:>10}{:>11}{:>9}",
        "case",
        "bytes",
        "callgate",
        "jsonschema",
        "×",
        "+ sonic-rs",
        "×",
        "boon",
        "×",
        "serde_json",
        "IgnoredAny",
        "sonic-rs"
    )?;
    for case in cases {
        let time = |who| case.times.of("bytes", "valid", who);
        let (ours, peer, sonic, boon) = (time(OURS), time(JSONSCHEMA), time(SONIC), time(BOON));
        let [tree, grammar, parse] = FLOORS.map(time);
        writeln!(
            f,
            "{:<10}{:>7} |{ours:>9.0} |{peer:>12.0}{:>7.2} |{sonic:>12.0}{:>7.2} |{boon:>9.0}{:>7.2} |{tree:>10.0}{grammar:>11.0}{parse:>9.0}",
            case.name,
            case.bytes,
            peer / ours,
            sonic / ours,
            boon / ours,
        )?;
    }
    Ok(())
}

fn refused(f: &mut fmt::Formatter<'_>, cases: &[Figures]) -> fmt::Result {
    for (what, title) in [("invalid", "one late violation"), ("multi", "several violations")] {
        writeln!(f, "\nfrom bytes to every violation with its place and text: {title}")?;
        writeln!(
            f,
            "{:<10}{:>10}{:>16} |{:>12}{:>7} |{:>10}{:>7}",
            "case", "callgate", "by own valid", "jsonschema", "×", "boon", "×"
        )?;
        for case in cases {
            let time = |who| case.times.of("bytes", what, who);
            let (ours, peer, boon) = (time(OURS), time(JSONSCHEMA), time(BOON));
            let own = ours / case.times.of("bytes", "valid", OURS);
            writeln!(
                f,
                "{:<10}{ours:>10.0}{own:>16.2} |{peer:>12.0}{:>7.2} |{boon:>10.0}{:>7.2}",
                case.name,
                peer / ours,
                boon / ours
            )?;
        }
    }
    Ok(())
}

fn of_values(f: &mut fmt::Formatter<'_>, cases: &[Figures]) -> fmt::Result {
    writeln!(f, "\nfrom a serde_json::Value that is there already")?;
    writeln!(
        f,
        "{:<10}{:>9}{:>12}{:>7}{:>9} |{:>12}{:>12}{:>7} |{:>12}{:>12}{:>7}",
        "case",
        "valid",
        "jsonschema",
        "×",
        "boon",
        "one, told",
        "jsonschema",
        "×",
        "several",
        "jsonschema",
        "×"
    )?;
    for case in cases {
        let time = |what, who| case.times.of("value", what, who);
        let (valid, peer, boon) = (time("valid", OURS), time("valid", JSONSCHEMA), time("valid", BOON));
        let (one, peer_one) = (time("invalid", OURS), time("invalid", JSONSCHEMA));
        let (several, peer_several) = (time("multi", OURS), time("multi", JSONSCHEMA));
        writeln!(
            f,
            "{:<10}{valid:>9.0}{peer:>12.0}{:>7.2}{boon:>9.0} |{one:>12.0}{peer_one:>12.0}{:>7.2} |{several:>12.0}{peer_several:>12.0}{:>7.2}",
            case.name,
            peer / valid,
            peer_one / one,
            peer_several / several
        )?;
    }
    Ok(())
}

fn compile(f: &mut fmt::Formatter<'_>, cases: &[Figures]) -> fmt::Result {
    writeln!(
        f,
        "\nfrom a schema to what checks by it; the first column is serde_json's parse of the schema alone"
    )?;
    writeln!(
        f,
        "{:<10}{:>7}{:>9} |{:>10}{:>9} |{:>12}{:>7} |{:>9}{:>7} |{:>14}",
        "case", "bytes", "parse", "callgate", "by parse", "jsonschema", "×", "boon", "×", "program bytes"
    )?;
    for case in cases {
        let time = |who| case.times.of("compile", "schema", who);
        let (parse, ours, peer, boon) = (time(FLOORS[0]), time(OURS), time(JSONSCHEMA), time(BOON));
        writeln!(
            f,
            "{:<10}{:>7}{parse:>9.0} |{ours:>10.0}{:>9.1} |{peer:>12.0}{:>7.2} |{boon:>9.0}{:>7.2} |{:>14}",
            case.name,
            case.schema_bytes,
            ours / parse,
            peer / ours,
            boon / ours,
            case.program_bytes
        )?;
    }
    Ok(())
}

fn allocations(f: &mut fmt::Formatter<'_>, cases: &[Figures]) -> fmt::Result {
    if cases.iter().all(|case| case.allocations.is_none()) {
        return Ok(());
    }
    writeln!(f, "\nallocations, once warm: callgate / jsonschema")?;
    writeln!(
        f,
        "{:<10}{:>16}{:>16}{:>16}{:>16}",
        "case", "valid", "from a Value", "one, told", "several, told"
    )?;
    for case in cases {
        let count = |what: &str, who: &str| {
            let count = case.allocations.as_ref().and_then(|counts| counts.get(&format!("{what} {who}")));
            count.map_or_else(|| "?".to_owned(), u64::to_string)
        };
        write!(f, "{:<10}", case.name)?;
        for what in ["valid", "value", "invalid", "multi"] {
            write!(f, "{:>16}", format!("{} / {}", count(what, OURS), count(what, JSONSCHEMA)))?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn sampled(f: &mut fmt::Formatter<'_>, sample: &Sample) -> fmt::Result {
    writeln!(
        f,
        "\nrows of the project's tests, all in a row: {} good values ({} bytes), {} bad ones; {} rows are left out, on which not all engines agree",
        sample.good, sample.good_bytes, sample.bad, sample.left_out
    )?;
    for (what, title) in [("valid", "good, a verdict"), ("invalid", "bad, told with text")] {
        let time = |who| sample.times.of("bytes", what, who);
        let ours = time(OURS);
        write!(f, "{title:<22}{OURS} {ours:.0}")?;
        for who in [JSONSCHEMA, SONIC, BOON] {
            if time(who).is_finite() {
                write!(f, " | {who} {:.0} × {:.2}", time(who), time(who) / ours)?;
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

fn growth(f: &mut fmt::Formatter<'_>, points: &[Point]) -> fmt::Result {
    if points.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nhow it grows: good values from bytes")?;
    writeln!(
        f,
        "{:<12}{:>7}{:>9} |{:>10}{:>10}{:>12}{:>7} |{:>10}{:>9}{:>15}",
        "of",
        "size",
        "bytes",
        "callgate",
        "by byte",
        "jsonschema",
        "×",
        "compile",
        "by parse",
        "program bytes"
    )?;
    for point in points {
        let time = |from, who| point.times.of(from, "valid", who);
        let (ours, peer) = (time("bytes", OURS), time("bytes", JSONSCHEMA));
        let (compile, parse) = (time("compile", OURS), time("compile", FLOORS[0]));
        let bytes = u32::try_from(point.bytes).map_or(f64::NAN, f64::from);
        writeln!(
            f,
            "{:<12}{:>7}{:>9} |{ours:>10.0}{:>10.2}{peer:>12.0}{:>7.2} |{compile:>10.0}{:>9.1}{:>15}",
            point.axis,
            point.size,
            point.bytes,
            ours / bytes,
            peer / ours,
            compile / parse,
            point.program_bytes
        )?;
    }
    Ok(())
}

impl Report {
    /// The same for programs: times in nanoseconds.
    pub(super) fn json(&self) -> Value {
        let cases = self.cases.iter().map(|case| {
            json!({
                "name": case.name,
                "bytes": case.bytes,
                "schema_bytes": case.schema_bytes,
                "program_bytes": case.program_bytes,
                "times": times(&case.times),
                "allocations": case.allocations,
            })
        });
        let growth = self.growth.iter().map(|point| {
            json!({
                "of": point.axis,
                "size": point.size,
                "bytes": point.bytes,
                "program_bytes": point.program_bytes,
                "times": times(&point.times),
            })
        });
        let sample = self.sample.as_ref().map(|sample| {
            json!({
                "good": sample.good,
                "bad": sample.bad,
                "left_out": sample.left_out,
                "times": times(&sample.times),
            })
        });
        let goals = goals::of(&self.cases).into_iter().map(|goal| {
            json!({
                "goal": goal.text,
                "wanted": goal.wanted,
                "found": goal.found,
                "case": goal.case,
                "holds": goal.holds(),
            })
        });
        json!({
            "turns": self.turns,
            "cases": cases.collect::<Vec<_>>(),
            "rows": sample,
            "growth": growth.collect::<Vec<_>>(),
            "goals": goals.collect::<Vec<_>>(),
        })
    }
}

fn times(times: &Times) -> Vec<Value> {
    let row = |(key, time): (&crate::turns::Key, f64)| json!({"from": key.from, "what": key.what, "who": key.who, "ns": time});
    times.iter().map(row).collect()
}
