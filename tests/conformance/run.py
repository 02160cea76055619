"""The official conformance suite of the protocol, on both sides of the gate.

    python run.py CALLGATE [--node-modules FOLDER] [--results FOLDER]

CALLGATE is the gate's program. FOLDER has the suite (default: `tests/peers/node_modules`). Its server scenarios ask a
gate before the tool server `fixture.py`, in each pair of the gate's revision and the server's era; its client scenarios
start `client.py`, so that they see what the gate asks of a server. `expected.txt` lists each check that is known not to
hold, with the reason. A check that does not hold and is not listed is a failure, and so is one that is listed and holds.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
REVISIONS = ["2026-07-28", "2025-11-25"]
ERAS = ["modern", "legacy"]

# The oldest Node that the suite runs on.
NODE_MIN = 22
# No scenario takes as long, also on a busy machine.
SCENARIO_SECONDS = 60
RUN_SECONDS = 180
# Client scenarios at once; most of their time they wait.
AT_ONCE = 3


@dataclass
class Entry:
    """A line of the list: what it is about, and why it does not hold."""

    line: int
    leaves_out: bool
    run: str
    revision: str
    scenario: str
    check: str | None
    # The scenarios that it was seen with, and whether it was needed there.
    seen: dict[str, bool] = field(default_factory=dict)

    def is_about(self, run: str, revision: str, scenario: str) -> bool:
        return (self.run, self.revision) == (run, revision) and fnmatchcase(scenario, self.scenario)


def entries() -> list[Entry]:
    found = []
    for number, line in enumerate((HERE / "expected.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, runs, revisions, scenario, reason = line.split(None, 4)
        if kind not in ("fails", "left-out") or not reason:
            raise ValueError(f"expected.txt:{number}: expected `fails` or `left-out` and a reason")
        name, _, check = scenario.partition(":")
        for run in runs.split(","):
            for revision in revisions.split(","):
                found.append(Entry(number, kind == "left-out", run, revision, name, check or None))
    return found


class Tally:
    """Counts the checks, compares them with the list, and prints what is not as it is listed."""

    def __init__(self) -> None:
        self.entries = entries()
        self.passed = self.expected = self.skipped = self.failed = self.scenarios = 0

    def fail(self, what: str, why: str) -> None:
        self.failed += 1
        print(f"FAIL  {what}: {why}")

    def leaves_out(self, run: str, revision: str, scenario: str) -> bool:
        about = [entry for entry in self.entries if entry.leaves_out and entry.is_about(run, revision, scenario)]
        for entry in about:
            entry.seen[scenario] = True
        return bool(about)

    def take(self, run: str, revision: str, results: dict[str, list[dict]], wanted: set[str]) -> None:
        """Takes the checks of each scenario of a run."""
        before = (self.passed, self.expected, self.skipped, self.failed)
        for scenario in sorted(wanted - results.keys()):
            self.fail(f"{run} {revision} {scenario}", "it did not run")
        for scenario, checks in sorted(results.items()):
            self.scenarios += 1
            about = [entry for entry in self.entries if entry.is_about(run, revision, scenario)]
            for entry in about:
                entry.seen.setdefault(scenario, False)
            for check in checks:
                self.take_check(f"{run} {revision} {scenario}", scenario, check, about)
        now = (self.passed, self.expected, self.skipped, self.failed)
        counts = [after - earlier for earlier, after in zip(before, now)]
        names = ["passed", "failed as listed", "skipped", "failed"]
        text = ", ".join(f"{count} {name}" for count, name in zip(counts, names))
        print(f"{run} {revision}: {len(results)} scenarios: {text}")

    def take_check(self, what: str, scenario: str, check: dict, about: list[Entry]) -> None:
        match check["status"]:
            case "SUCCESS":
                self.passed += 1
            case "FAILURE" | "WARNING":
                excuses = [entry for entry in about if entry.check in (None, check["id"])]
                for entry in excuses:
                    entry.seen[scenario] = True
                if excuses:
                    self.expected += 1
                else:
                    self.fail(f"{what}:{check['id']}", str(check.get("errorMessage") or check.get("details")))
            case "SKIPPED":
                self.skipped += 1

    def close(self) -> int:
        for entry in self.entries:
            if not entry.seen:
                self.fail(f"expected.txt:{entry.line}", "no scenario that ran is meant")
            for scenario, needed in entry.seen.items():
                if not needed:
                    place = f"{entry.run} {entry.revision} {scenario}"
                    self.fail(f"expected.txt:{entry.line}", f"{place} holds now; take the line away")
        if not self.passed:
            self.fail("conformance", "nothing ran")
        print(
            f"{self.passed} passed, {self.expected} failed as listed, {self.skipped} skipped, {self.failed} failed "
            f"in {self.scenarios} scenarios"
        )
        return 1 if self.failed else 0


class Suite:
    """The program of the suite."""

    def __init__(self, node_modules: Path, results: Path) -> None:
        self.command = [node(node_modules), str(node_modules / SUITE)]
        self.results = results

    def wanted(self, side: str, revision: str) -> set[str]:
        """The scenarios of a revision for one side, also those that it may leave open."""
        listed = self.output(["list", "--requirements", revision])
        part = listed[listed.index(f"{side.title()} scenarios") :].split("\n\n")[0]
        scored = re.findall(r"^  - (\S+)$", part, re.MULTILINE)
        return set(scored) | set(re.findall(rf"^    - (\S+) \[{side}\]$", listed, re.MULTILINE))

    def output(self, arguments: list[str]) -> str:
        command = self.command + arguments
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=RUN_SECONDS)
        return done.stdout

    def server(self, run: str, url: str, revision: str) -> dict[str, list[dict]]:
        folder = self.results / run / revision
        limit = str(SCENARIO_SECONDS * 1000)
        self.output(["server", "--url", url, "--requirements", revision, "--timeout", limit, "-o", str(folder)])
        return checks_in(folder, "server-")

    def client(self, command: list[str], revision: str, scenario: str) -> list[dict]:
        folder = self.results / "client" / revision
        limit = str(SCENARIO_SECONDS * 1000)
        said = ["--command", shlex.join(command), "--scenario", scenario, "--spec-version", revision]
        self.output(["client", *said, "--timeout", limit, "-o", str(folder)])
        return checks_in(folder, "").get(scenario, [])


def checks_in(folder: Path, prefix: str) -> dict[str, list[dict]]:
    """The checks by scenario; the suite keeps those of each in a folder of its name and the time."""
    found = {}
    for path in folder.glob("*/checks.json"):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[^/]*$", "", path.parent.name.removeprefix(prefix))
        found[scenario] = json.loads(path.read_text())
    return found


def node(node_modules: Path) -> str:
    """A Node that is new enough: the machine's own, or the one that comes as a package."""
    own = shutil.which("node")
    if own:
        version = subprocess.run([own, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
        if int(version.removeprefix("v").split(".")[0]) >= NODE_MIN:
            return own
    packaged = sorted(node_modules.glob("node-linux-*/bin/node"))
    if not packaged:
        raise FileNotFoundError(f"a Node of version {NODE_MIN} or newer, here or among the packages")
    return str(packaged[0])


@contextmanager
def fixture(era: str):
    """The tool server; gives its address."""
    command = [sys.executable, str(HERE / "fixture.py"), era]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(timeout=SCENARIO_SECONDS)


@contextmanager
def gate(callgate: str, upstream: str, folder: Path):
    """A gate before this tool server; gives its address."""
    folder.mkdir(parents=True)
    config, log = folder / "gate.toml", folder / "gate.log"
    config.write_text(f'[[upstreams]]\nname = "fixture"\nprefix = ""\nurl = "{upstream}"\n')
    command = [callgate, "serve", "--config", str(config), "--store", str(folder / "store.sqlite")]
    with open(log, "w") as output:
        process = subprocess.Popen([*command, "--listen", "127.0.0.1:0"], stderr=output)
    try:
        yield ready(log)
    finally:
        process.terminate()
        process.wait(timeout=SCENARIO_SECONDS)


def ready(log: Path) -> str:
    """Waits until the gate has its tools."""
    deadline = time.monotonic() + SCENARIO_SECONDS
    while time.monotonic() < deadline:
        found = re.search(r"listening at http://(\S+)/mcp", log.read_text())
        if found:
            with urllib.request.urlopen(f"http://{found[1]}/readyz") as answer:
                if answer.read().startswith(b"1 of 1"):
                    return f"http://{found[1]}/mcp"
        time.sleep(0.05)
    raise TimeoutError(f"the gate is not ready: {log.read_text()}")


def servers(tally: Tally, suite: Suite, callgate: str, folder: Path) -> None:
    for era in ERAS:
        run = f"server/{era}"
        with fixture(era) as upstream, gate(callgate, upstream, folder / era) as url:
            for revision in REVISIONS:
                wanted = suite.wanted("server", revision)
                tally.take(run, revision, suite.server(run, url, revision), wanted)


def clients(tally: Tally, suite: Suite, callgate: str) -> None:
    command = [sys.executable, str(HERE / "client.py"), callgate]
    for revision in REVISIONS:
        every = suite.wanted("client", revision)
        wanted = {scenario for scenario in every if not tally.leaves_out("client", revision, scenario)}
        print(f"client {revision}: {len(every) - len(wanted)} scenarios left out")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = pool.map(lambda scenario: suite.client(command, revision, scenario), sorted(wanted))
            ran = {scenario: checks for scenario, checks in zip(sorted(wanted), results) if checks}
        tally.take("client", revision, ran, wanted)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("callgate", type=Path)
    parser.add_argument("--node-modules", type=Path, default=HERE.parent / "peers/node_modules")
    parser.add_argument("--results", type=Path)
    arguments = parser.parse_args()
    callgate = str(arguments.callgate.resolve())
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        results = (arguments.results or Path(folder) / "results").resolve()
        suite = Suite(arguments.node_modules.resolve(), results)
        servers(tally, suite, callgate, Path(folder) / "gates")
        clients(tally, suite, callgate)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
