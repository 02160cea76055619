//! A schedule: steps made from a seed. Each step makes sense in every world, so that any of them can be left out.

use std::fmt;

use super::world::World;

/// Steps of one schedule.
const STEPS: usize = 60;

/// One step: what happens, and three numbers that choose with whom. What cannot happen in the world as it is, does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A caller makes a call.
    Call,
    /// A call that may leave is sent, or lost on its way.
    Send,
    /// What an upstream has got takes effect, and is answered: well, with an error, or with what cannot be read.
    Serve,
    /// An answer arrives, or arrives once more, or never will.
    Arrive,
    /// A gate gives up waiting.
    TimeOut,
    /// A caller withdraws a call.
    Cancel,
    /// A gate ends without a word.
    Crash,
    /// A gate is taken to be gone although it is only slow.
    Suspect,
    /// A gate starts and takes over what others left.
    Start,
    /// An operator decides about an approval.
    Decide,
    /// An operator says what becomes of an intent in doubt.
    Reconcile,
    /// The clock goes on, or back.
    Clock,
}

impl Kind {
    /// Each as often as it shall come: calls and their ways most of all.
    const OFTEN: [Kind; 24] = [
        Kind::Call,
        Kind::Call,
        Kind::Call,
        Kind::Call,
        Kind::Call,
        Kind::Call,
        Kind::Send,
        Kind::Send,
        Kind::Send,
        Kind::Send,
        Kind::Serve,
        Kind::Serve,
        Kind::Serve,
        Kind::Arrive,
        Kind::Arrive,
        Kind::Arrive,
        Kind::TimeOut,
        Kind::Cancel,
        Kind::Crash,
        Kind::Suspect,
        Kind::Start,
        Kind::Decide,
        Kind::Reconcile,
        Kind::Clock,
    ];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} {} {}", self.kind, self.a, self.b, self.c)
    }
}

/// What many schedules have come to, so that one can see that they were not empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Schedules that were played.
    pub schedules: u64,
    /// Steps in which something happened.
    pub steps: u64,
    /// Calls that may leave.
    pub opened: u64,
    /// Calls that were held.
    pub held: u64,
    /// Effects at upstreams.
    pub effects: u64,
    /// Intents that were in doubt at some time.
    pub doubts: u64,
    /// Further tries that an operator permitted.
    pub retries: u64,
    /// Approvals that were used.
    pub approvals: u64,
    /// Commits that failed, before they were done or after.
    pub faults: u64,
    /// Gates that ended without a word.
    pub crashes: u64,
}

impl Summary {
    pub(super) fn add(&mut self, other: Summary) {
        let Summary { schedules, steps, opened, held, effects, doubts, retries, approvals, faults, crashes } =
            other;
        self.schedules += schedules;
        self.steps += steps;
        self.opened += opened;
        self.held += held;
        self.effects += effects;
        self.doubts += doubts;
        self.retries += retries;
        self.approvals += approvals;
        self.faults += faults;
        self.crashes += crashes;
    }
}

/// A promise that did not hold.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The seed that finds it again.
    pub seed: u64,
    /// Which promise, and what was found.
    pub fault: String,
    /// The fewest steps that still break it, and what happened in each.
    pub steps: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.fault)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step}"))
    }
}

impl std::error::Error for Broken {}

/// Plays the schedules of these seeds.
///
/// # Errors
///
/// The first promise that does not hold.
pub fn run(seeds: std::ops::Range<u64>) -> Result<Summary, Box<Broken>> {
    let mut summary = Summary::default();
    for seed in seeds {
        let steps = made_from(seed);
        match play(&steps) {
            Ok(one) => summary.add(one),
            Err(fault) => {
                let (steps, fault) = shrink(steps, fault, |steps| play(steps).err());
                let told = told(&steps);
                return Err(Box::new(Broken { seed, fault, steps: told }));
            }
        }
    }
    Ok(summary)
}

fn made_from(seed: u64) -> Vec<Step> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut step = || Step {
        kind: random.choice(Kind::OFTEN).unwrap_or(Kind::Call),
        a: random.u32(..),
        b: random.u32(..),
        c: random.u32(..),
    };
    (0..STEPS).map(|_| step()).collect()
}

fn play(steps: &[Step]) -> Result<Summary, String> {
    let mut world = World::new();
    for step in steps {
        world.step(*step)?;
    }
    world.end()
}

/// What happened in each step, up to the fault.
fn told(steps: &[Step]) -> Vec<String> {
    let mut world = World::new();
    let mut told = Vec::new();
    for step in steps {
        let outcome = world.step(*step);
        told.push(format!("{step}: {}", world.told()));
        if outcome.is_err() {
            break;
        }
    }
    told
}

/// Leaves out what is not needed for the fault, in halves first and one by one last.
fn shrink(
    mut steps: Vec<Step>,
    mut fault: String,
    broken: impl Fn(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            match broken(&fewer) {
                Some(found) => (steps, fault) = (fewer, found),
                None => at += size,
            }
        }
        size /= 2;
    }
    (steps, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_schedule_and_others_give_others() {
        assert_eq!(made_from(7), made_from(7));
        assert_ne!(made_from(7), made_from(8));
    }

    #[test]
    fn shrinking_keeps_the_fault_and_drops_the_rest() {
        let has = |steps: &[Step], kind| steps.iter().any(|step| step.kind == kind);
        let broken = |steps: &[Step]| {
            (has(steps, Kind::Crash) && has(steps, Kind::Send)).then(|| "a crash and a sending".to_owned())
        };
        let steps = (0..1_000).map(made_from).find(|steps| broken(steps).is_some()).unwrap();
        let (fewer, fault) = shrink(steps, String::new(), broken);
        assert_eq!((fewer.len(), fault.as_str()), (2, "a crash and a sending"));
    }

    #[test]
    fn two_thousand_schedules_keep_all_promises() {
        let summary = run(0..2_000).unwrap_or_else(|broken| panic!("{broken}"));
        let Summary { schedules, opened, held, effects, doubts, retries, approvals, faults, crashes, .. } =
            summary;
        assert_eq!(schedules, 2_000);
        let all = [opened, held, effects, doubts, retries, approvals, faults, crashes];
        assert!(
            all.iter().all(|count| *count > 100),
            "schedules in which nothing happens show nothing: {summary:?}"
        );
    }
}
