//! Gates in several processes that live, stand still or die, seen by their leases.
//!
//! The other processes are this test program itself, started again with the name of [`a_gate_in_another_process`] and
//! the address in the environment. They do what they read, a word a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use callgate_gateway::journal::{Hold, Journal as _, Opened, Records as _};
use callgate_testing::postgres::Server;
use callgate_wire::{Code, IntentId, IntentState, SideEffect, Timestamp};

use crate::support::{ALL, gate, go, held, open, request, result_at};

const ADDRESS: &str = "CALLGATE_TEST_ADDRESS";
/// A short lease, for tests that wait until it has passed.
const SHORT: &str = "&lease_ms=1500&renewal_ms=300";
const PAST: Duration = Duration::from_millis(2500);

#[test]
fn a_gate_in_another_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let journal = gate(&address);
    println!("\nready {}", journal.incarnation());
    let mut last: Option<IntentId> = None;
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "open" => match open(&journal, request(journal.incarnation(), "a")).unwrap() {
                Opened::Go(intent) => {
                    println!("\nopened {}", intent.id);
                    last = Some(intent.id);
                }
                Opened::Held(hold) => println!("\nheld {hold:?}"),
                Opened::Known(..) => println!("\nknown"),
            },
            "settle" => match journal.settle(&last.clone().unwrap(), &result_at(5), None) {
                Ok(()) => println!("\nsettled"),
                Err(error) => println!("\nrefused {}", error.code()),
            },
            other => panic!("no word `{other}` is known"),
        }
    }
}

/// A gate in another process; killed when dropped.
struct Other {
    child: Child,
    words: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Other {
    fn start(address: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().expect("the test program has a path"))
            .args(["--exact", "leases::a_gate_in_another_process", "--nocapture"])
            .env(ADDRESS, address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test program starts again");
        let words = child.stdin.take().expect("its input is in hand");
        let lines = BufReader::new(child.stdout.take().expect("its output is in hand"));
        let mut other = Other { child, words, lines };
        other.answer("ready");
        other
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.words, "{word}").expect("it reads");
    }

    /// The rest of the next line that begins so.
    fn answer(&mut self, begins: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.lines.read_line(&mut line).expect("its output is read");
            assert_ne!(read, 0, "it ended before `{begins}`");
            if let Some(rest) = line.trim_end().strip_prefix(begins) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` starts").success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_gate_that_lives_is_left_alone_and_one_that_was_killed_is_taken_over_when_its_lease_has_passed() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("killed_gates", SHORT);
    let (mut lives, mut dies) = (Other::start(&address), Other::start(&address));
    let ours = gate(&address);
    for other in [&mut lives, &mut dies] {
        other.tell("open");
        other.answer("opened");
    }
    dies.signal("-KILL");
    std::thread::sleep(PAST);
    let recovered = ours.recover(Timestamp(7)).unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!((recovered[0].in_doubt(), recovered[0].state()), (true, IntentState::Open));
    assert_eq!(recovered[0].fence, *ours.incarnation());
    assert_eq!(ours.recover(Timestamp(8)).unwrap(), []);
    lives.tell("settle");
    lives.answer("settled");
    // The identical call is refused by every gate until a person has decided.
    let doubted = recovered[0].id.clone();
    lives.tell("open");
    assert_eq!(lives.answer("held"), format!("{:?}", Hold::InDoubt(doubted.clone())));
    assert_eq!(held(&ours, request(ours.incarnation(), "a")), Hold::InDoubt(doubted));
}

#[test]
fn a_gate_that_was_frozen_past_its_lease_opens_nothing_and_settles_nothing_that_was_taken_over() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("frozen_gates", SHORT);
    let mut frozen = Other::start(&address);
    let ours = gate(&address);
    frozen.tell("open");
    let id = frozen.answer("opened");
    frozen.signal("-STOP");
    std::thread::sleep(PAST);
    let recovered = ours.recover(Timestamp(7)).unwrap();
    assert_eq!(recovered.iter().map(|intent| intent.id.as_str()).collect::<Vec<_>>(), [id.as_str()]);
    // The words wait for it while it stands still.
    frozen.tell("open");
    frozen.tell("settle");
    frozen.signal("-CONT");
    assert_eq!(frozen.answer("held"), "Fenced");
    assert_eq!(frozen.answer("refused"), Code::IntentFenced.as_str());
    let intents = ours.list(&ALL).unwrap();
    assert_eq!(intents.len(), 1);
    let settlement = intents[0].settlement.as_ref().unwrap();
    assert_eq!((settlement.side_effect, settlement.in_doubt), (SideEffect::Unknown, true));
    // And never again.
    frozen.tell("open");
    assert_eq!(frozen.answer("held"), "Fenced");
}

#[test]
fn of_many_gates_one_takes_over_each_intent() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("takeovers", SHORT);
    let gone: Vec<_> = (0..3).map(|_| Other::start(&address)).collect();
    let survivors: Vec<_> = (0..4).map(|_| gate(&address)).collect();
    let mut opened = 0;
    for mut other in gone {
        other.tell("open");
        other.answer("opened");
        opened += 1;
    }
    std::thread::sleep(PAST);
    let recovered: usize = std::thread::scope(|scope| {
        let all: Vec<_> =
            survivors.iter().map(|gate| scope.spawn(|| gate.recover(Timestamp(7)).unwrap().len())).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(recovered, opened);
    assert!(survivors[0].list(&ALL).unwrap().iter().all(callgate_wire::Intent::in_doubt));
}

#[test]
fn a_gate_that_ends_in_order_gives_its_lease_back() {
    let Some(server) = Server::shared() else { return };
    let address = server.address("in_order", "&lease_ms=600000");
    let ended = gate(&address);
    go(&ended, request(ended.incarnation(), "a"));
    drop(ended);
    let ours = gate(&address);
    assert_eq!(ours.recover(Timestamp(7)).unwrap().len(), 1);
    assert_eq!(server.query("SELECT count(*) FROM in_order.commits").unwrap(), "1");
}
