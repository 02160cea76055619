"""Measures `callgate validate --jsonl` beside a Python script around `jsonschema-rs`: one run, side by side.

    python3 bench/jsonl/run.py BINARY CALLS [--lines 1000000]

CALLS is a folder of recorded calls: files `*.jsonl` with a `schema` and `arguments` on each line. They are repeated until
there are enough. What the gate does not admit as a tool is left out for both. The script makes a virtual environment of its
own beside the data, in a folder that is removed afterwards.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

REQUIREMENTS = ["jsonschema-rs==0.61.2", "orjson"]


def collect(folder):
    """The tools that the calls are for, each once, and the calls."""
    tools, calls = {}, []
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row.get("valid") is None:
                continue
            name = tools.setdefault(json.dumps(row["schema"]), f"tool-{len(tools)}")
            calls.append((name, row["arguments"]))
    return tools, calls


def admitted(binary, tools, scratch):
    """The tools that a gate takes."""
    catalog = scratch / "all.json"
    write_catalog(catalog, tools)
    checked = subprocess.run([binary, "check", "--format", "json", catalog], capture_output=True, check=False)
    report = json.loads(checked.stdout)
    report = report[0] if isinstance(report, list) else report
    refused = {finding["tool"] for finding in report["findings"] if finding["severity"] == "error"}
    return {schema: name for schema, name in tools.items() if name not in refused}


def write_catalog(path, tools):
    rows = (f'{{"name": "{name}", "inputSchema": {schema}}}' for schema, name in tools.items())
    path.write_text("[" + ",\n".join(rows) + "]")


def write_calls(path, calls, lines):
    text = [json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False) + "\n" for name, arguments in calls]
    with path.open("w") as file:
        for at in range(lines):
            file.write(text[at % len(text)])


# The peak of a process counts from its parent's size at the fork, so that the parent has to be small.
WATCH = """
import json, resource, subprocess, sys, time
before = time.perf_counter()
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "wb"), check=False)
seconds = time.perf_counter() - before
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


def run(command, out):
    """Seconds, peak memory in MiB, and the last line that was printed."""
    watch = [sys.executable, "-c", WATCH, out, *command]
    measured = subprocess.run(watch, stdout=subprocess.PIPE, check=True)
    seconds, memory = json.loads(measured.stdout)
    lines = pathlib.Path(out).read_bytes().splitlines()
    return seconds, memory, lines[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("calls")
    parser.add_argument("--lines", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
        python = scratch / "venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        tools, calls = collect(options.calls)
        tools = admitted(options.binary, tools, scratch)
        names = set(tools.values())
        calls = [call for call in calls if call[0] in names]
        write_catalog(scratch / "tools.json", tools)
        write_calls(scratch / "calls.jsonl", calls, options.lines)
        size = (scratch / "calls.jsonl").stat().st_size / 2**20
        print(f"{options.lines} lines, {size:.0f} MiB, from {len(calls)} calls of {len(tools)} tools")
        files = [scratch / "tools.json", scratch / "calls.jsonl"]
        out = scratch / "out"
        ours = run([options.binary, "validate", "--catalog", files[0], "--format", "json", "--jsonl", files[1]], out)
        text = run([options.binary, "validate", "--catalog", files[0], "--jsonl", files[1]], out)
        report = run([python, pathlib.Path(__file__).with_name("peer.py"), *files, "report"], out)
        verdict = run([python, pathlib.Path(__file__).with_name("peer.py"), *files, "verdict"], out)
        summary = json.loads(ours[2])["summary"]
        peer = json.loads(report[2])
        print(f"valid: callgate {summary['valid']}, jsonschema-rs {peer['valid']} of {peer['lines']}")
        rows = [
            ("callgate, summary", text),
            ("callgate, every finding as JSON", ours),
            ("jsonschema-rs, summary", report),
            ("jsonschema-rs, verdicts alone", verdict),
        ]
        for name, (seconds, memory, _) in rows:
            print(f"{name:<34}{seconds:>8.2f} s{memory:>8.0f} MiB{seconds / text[0]:>8.2f} times")


if __name__ == "__main__":
    main()
