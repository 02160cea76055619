//! A server of PostgreSQL for tests: the machine's own programs, in a folder of its own, on a unix socket and on no port.
//!
//! It runs as a user without rights where the tests run as root, since it refuses to run as root, and ends with the
//! process that started it, however that ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::peer::until;

/// The user of the database.
const USER: &str = "gate";
/// How long the server may take to come up: it may have a log to work through after it was killed.
const START_PATIENCE: Duration = Duration::from_mins(1);
/// Users without rights that a machine with PostgreSQL or any other has.
const UNPRIVILEGED: &[&str] = &["postgres", "nobody"];

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    account: Option<(u32, u32)>,
    settings: Vec<String>,
    process: Mutex<Option<Child>>,
    /// Ends the server and clears up when its standard input ends, which it does with this process.
    watcher: Mutex<Child>,
}

impl Server {
    /// The server that the tests of this process share; nothing, and a line that says so, where the machine has no
    /// PostgreSQL.
    ///
    /// # Panics
    ///
    /// Where the machine has none and `CI` is `true`, and where it does not start.
    pub fn shared() -> Option<&'static Server> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED.get_or_init(Server::fresh).as_ref()
    }

    /// A server of one's own, to kill.
    ///
    /// # Panics
    ///
    /// As [`Server::shared`].
    pub fn fresh() -> Option<Server> {
        Server::with(&[])
    }

    /// A server of one's own whose files are in memory where the system has a place for that: for tests of what is decided,
    /// not of what is on the disk.
    ///
    /// # Panics
    ///
    /// As [`Server::shared`].
    pub fn in_memory() -> Option<Server> {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Server::of(&[], memory) } else { Server::fresh() }
    }

    /// A server of one's own with settings, such as `fsync=off`.
    ///
    /// # Panics
    ///
    /// As [`Server::shared`].
    pub fn with(settings: &[&str]) -> Option<Server> {
        Server::of(settings, &std::env::temp_dir())
    }

    #[expect(clippy::print_stderr, clippy::expect_used, reason = "a test says why it does nothing")]
    fn of(settings: &[&str], parent: &Path) -> Option<Server> {
        let Some(programs) = programs() else {
            let strict = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!strict, "the programs of PostgreSQL (`initdb`, `postgres`) are missing");
            eprintln!("skipped: the programs of PostgreSQL (`initdb`, `postgres`) are missing");
            return None;
        };
        Some(Server::start(programs, settings, parent).expect("a server of PostgreSQL starts"))
    }

    fn start(programs: PathBuf, settings: &[&str], parent: &Path) -> anyhow::Result<Server> {
        // Not deep in a tree: the path of a socket has a hundred bytes.
        let folder = tempfile::Builder::new().prefix("callgate-pg-").tempdir_in(parent)?.keep();
        let account = unprivileged()?;
        if let Some((user, group)) = account {
            chown(&folder, Some(user), Some(group))?;
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        let watcher = watch(&programs, &folder)?;
        let server = Server {
            programs,
            folder,
            account,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            process: Mutex::new(None),
            watcher: Mutex::new(watcher),
        };
        let made = server
            .command("initdb")
            .args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--username", USER, "-D"])
            .arg(server.data())
            .output()?;
        if !made.status.success() {
            bail!("`initdb` failed: {}", String::from_utf8_lossy(&made.stderr));
        }
        server.resume()?;
        Ok(server)
    }

    /// Starts the server again after [`Server::kill`], and waits until it takes connections.
    pub fn resume(&self) -> anyhow::Result<()> {
        let log = || fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let mut last = None;
        // The memory of a server that was killed is there until the last of its processes has seen that it is alone.
        until("the server takes connections", START_PATIENCE, || {
            last = None;
            let mut process = self.process();
            let ended = process.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            if ended {
                let started = log().and_then(|log| {
                    let mut command = self.command("postgres");
                    command.arg("-D").arg(self.data()).arg("-k").arg(&self.folder);
                    command.args(["-c", "listen_addresses=", "-c", "max_connections=200"]);
                    command.args(["-c", "shared_buffers=64MB"]);
                    for setting in &self.settings {
                        command.arg("-c").arg(setting);
                    }
                    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0).spawn()
                });
                match started {
                    Ok(child) => *process = Some(child),
                    Err(error) => last = Some(error),
                }
            }
            drop(process);
            std::thread::sleep(Duration::from_millis(20));
            self.query("SELECT 1").is_ok()
        })
        .with_context(|| format!("{last:?}; its log: {}", self.log()))
    }

    /// Kills the server and each of its processes at once, as the system would (SIGKILL).
    pub fn kill(&self) -> anyhow::Result<()> {
        let mut process = self.process();
        let Some(mut child) = process.take() else { return Ok(()) };
        let all = family(child.id());
        child.kill()?;
        for pid in all {
            // It may be gone already.
            let _ = Command::new("kill").arg("-9").arg(pid.to_string()).stderr(Stdio::null()).status();
        }
        child.wait()?;
        Ok(())
    }

    /// The address of a store in a schema of this name, with more parameters if there are any (`&lease_ms=2000`).
    pub fn address(&self, schema: &str, parameters: &str) -> String {
        self.address_through(&self.folder, schema, parameters)
    }

    /// The address by the socket in another folder, which leads to the server: see [`Server::socket`].
    pub fn address_through(&self, folder: &Path, schema: &str, parameters: &str) -> String {
        let folder = folder.display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{folder}/postgres?schema={schema}{parameters}")
    }

    /// The server's socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(SOCKET)
    }

    /// Has a statement run by `psql` and gives what it prints: one row a line, `|` between columns.
    pub fn query(&self, sql: &str) -> anyhow::Result<String> {
        let output = Command::new("psql")
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", USER, "-d", "postgres", "-h"])
            .arg(&self.folder)
            .args(["-c", sql])
            .output()
            .context("`psql` does not start")?;
        if !output.status.success() {
            bail!("`{sql}` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// What the server has written to its log.
    pub fn log(&self) -> String {
        fs::read(self.folder.join("log"))
            .map_or_else(|error| error.to_string(), |text| String::from_utf8_lossy(&text).into_owned())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(&self.folder).env("LC_ALL", "C");
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.kill();
        let watcher = self.watcher.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(watcher.stdin.take());
        let _ = watcher.wait();
    }
}

/// The name of a server's socket, which has the number of its port, used or not.
pub const SOCKET: &str = ".s.PGSQL.5432";

/// Waits in a shell of its own for the end of its input, then ends the server of the folder and removes it.
fn watch(programs: &Path, folder: &Path) -> anyhow::Result<Child> {
    const SCRIPT: &str = "trap '' INT TERM HUP; while read -r _; do :; done; \
        pid=$(head -n 1 \"$1/data/postmaster.pid\" 2>/dev/null); \
        if [ -n \"$pid\" ]; then kill -QUIT \"$pid\" 2>/dev/null; \
        n=0; while kill -0 \"$pid\" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n+1)); done; fi; \
        rm -rf \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "watch"]).arg(folder).current_dir(programs);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().context("the shell that clears up does not start")
}

/// Where `initdb` and `postgres` are.
fn programs() -> Option<PathBuf> {
    let has_both = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    // Those beside each other in the distribution's folder know where their files are; links to them may not.
    let mut versions: Vec<PathBuf> = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt"]
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path().join("bin")))
        .filter(has_both)
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    versions.pop().or_else(|| std::env::split_paths(&path).find(has_both))
}

/// The user and the group to run as; nothing where the tests do not run as root.
fn unprivileged() -> anyhow::Result<Option<(u32, u32)>> {
    let output = Command::new("id").arg("-u").output().context("`id` does not start")?;
    if output.stdout.trim_ascii() != b"0" {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    for wanted in UNPRIVILEGED {
        for line in users.lines() {
            let mut fields = line.split(':');
            if fields.next() == Some(wanted)
                && let (Some(user), Some(group)) = (fields.nth(1), fields.next())
            {
                return Ok(Some((user.parse()?, group.parse()?)));
            }
        }
    }
    bail!("root may not run PostgreSQL, and there is none of the users {UNPRIVILEGED:?}")
}

/// The processes whose parent this is.
fn family(parent: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses can hold anything; the state and the parent follow it.
        let fields =
            stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().nth(1).map(str::parse::<u32>));
        fields.flatten().is_some_and(|found| found == Ok(parent))
    })
    .collect()
}
