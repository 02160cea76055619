"""Public MCP servers behind the gate, called by the public MCP client for Python and by a raw one.

    python run.py CALLGATE [--node-modules FOLDER] [--fixture PROGRAM]

CALLGATE is the gate's program. The servers for Python are those of the interpreter that runs this; those for Node are in
FOLDER (default: `node/node_modules` beside the interpreter's environment). PROGRAM is `callgate-fixture` (default: beside
CALLGATE); it stands before the real server and keeps the bytes that arrive. One line a check, then the counts; the exit
code is 1 when a check failed.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

# No answer of these servers takes as long, also on a busy machine.
PATIENCE_SECONDS = 60

REFUSAL = "dev.callgate/refusal"

INITIALIZE = (
    '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}'
)
INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'


@dataclass
class Server:
    """A server, and the calls that are made of it."""

    name: str
    command: list[str]
    good: tuple[str, dict]
    # A text in the answer to the good call.
    answered: str
    bad: tuple[str, dict]
    # The code of what is wrong with the bad call.
    finding: str
    # Calls whose bytes must arrive as they stand here: numbers, orders, escapes and blanks that a JSON library changes.
    raw: list[str]


class Checks:
    """Counts the checks and prints each."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def that(self, name: str, holds: bool, shown: object = "") -> None:
        if holds:
            self.passed += 1
            print(f"ok    {name}")
        else:
            self.failed += 1
            print(f"FAIL  {name}: {shown}")

    def close(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


@asynccontextmanager
async def session(command: list[str], log):
    """A session of the public client with the program of this command."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters, errlog=log) as (reading, writing):
        async with ClientSession(reading, writing) as client:
            await client.initialize()
            yield client


class Raw:
    """A client that writes lines as they are given and reads lines as they come."""

    def __init__(self, command: list[str], log) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.ask(INITIALIZE, '"hello"')
        self.send(INITIALIZED)

    def send(self, line: str) -> None:
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, line: str, id_text: str) -> str:
        """Sends a request; returns the line of its answer."""
        self.send(line)
        while True:
            answer = self.process.stdout.readline()
            if not answer:
                raise RuntimeError("the output ended")
            message = json.loads(answer)
            if "method" in message and "id" in message:
                # A request of the server's own, which this client cannot serve.
                error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
                self.send(json.dumps(error))
            elif message.get("id") == json.loads(id_text):
                return answer.decode().rstrip("\r\n")

    def close(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE_SECONDS)


def raw_value(text: str, name: str) -> str:
    """The text of the first member of this name in a JSON text, byte for byte."""
    start = text.index(f'"{name}":') + len(name) + 3
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end]


async def with_public_client(checks: Checks, server: Server, gate: list[str], log) -> None:
    async with session(server.command, log) as direct, session(gate, log) as gated:
        there = (await direct.list_tools()).tools
        here = (await gated.list_tools()).tools
        checks.that(
            f"{server.name}: the client sees the same {len(there)} tools, every field equal",
            [tool.model_dump(by_alias=True) for tool in here] == [tool.model_dump(by_alias=True) for tool in there],
            [tool.name for tool in here],
        )
        result = await gated.call_tool(*server.good)
        text = "".join(getattr(content, "text", "") for content in result.content)
        checks.that(
            f"{server.name}: a good call of {server.good[0]} passes",
            not result.is_error and server.answered in text,
            result,
        )
        refused = (await gated.call_tool(*server.bad)).model_dump(by_alias=True)
        refusal = (refused.get("_meta") or {}).get(REFUSAL) or {}
        checks.that(
            f"{server.name}: a bad call of {server.bad[0]} is refused with the reason",
            refused["isError"] is True
            and refusal.get("code") == "call-arguments-invalid"
            and refusal.get("side_effect") == "none"
            and [error["code"] for error in refusal.get("errors", [])][:1] == [server.finding],
            refused,
        )
        try:
            code = f"a result: {await gated.call_tool('no_such_tool', {})}"
        except MCPError as error:
            code = error.code
        checks.that(f"{server.name}: an unknown tool is the protocol's error -32602", code == -32602, code)


def with_raw_client(checks: Checks, server: Server, gate: list[str], received: Path, log) -> None:
    request = '{"jsonrpc":"2.0","id":"list","method":"tools/list"}'
    direct = Raw(server.command, log)
    there = raw_value(direct.ask(request, '"list"'), "tools")
    direct.close()
    gated = Raw(gate, log)
    here = raw_value(gated.ask(request, '"list"'), "tools")
    checks.that(f"{server.name}: the definitions are listed byte for byte", here == there, here)
    for line in server.raw:
        gated.ask(line, raw_value(line, "id"))
    status = gated.close()
    checks.that(f"{server.name}: the gate ends well when its client leaves", status == 0, status)
    calls = [line for line in received.read_bytes().split(b"\n") if b'"tools/call"' in line]
    sent = [line.encode() for line in server.raw]
    checks.that(f"{server.name}: {len(sent)} calls reached the server byte for byte", calls == sent, calls)


def with_command_line(checks: Checks, server: Server, callgate: str, store: Path) -> None:
    command = [callgate, "intents", "list", "--store", str(store), "--limit", "1000", "--format", "json"]
    intents = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    expected = sorted([server.good[0]] + [json.loads(line)["params"]["name"] for line in server.raw])
    checks.that(
        f"{server.name}: each call that ran has its settled intent, and no other has one",
        sorted(intent["tool"] for intent in intents) == expected
        and all(intent["state"] == "settled" and intent["side_effect"] == "done" for intent in intents),
        intents,
    )


def servers(folder: Path, node_modules: Path) -> list[Server]:
    programs = Path(sys.executable).parent
    repository = folder / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    (repository / "keel.txt").write_text("oak\n")
    path = json.dumps(str(repository))
    everything = node_modules / "@modelcontextprotocol/server-everything/dist/index.js"
    return [
        Server(
            "mcp-server-time",
            [str(programs / "mcp-server-time")],
            good=("convert_time", {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
            answered="21:00",
            bad=("get_current_time", {"timezone": 9}),
            finding="type-mismatch",
            raw=[
                '{"params":{"arguments":{"z":12345678901234567890123,"timezone":"Etc\\/UTC","a":1e2},'
                '"name":"get_current_time"},"method":"tools/call","id":1,"jsonrpc":"2.0"}',
            ],
        ),
        Server(
            "mcp-server-git",
            [str(programs / "mcp-server-git"), "--repository", str(repository)],
            good=("git_status", {"repo_path": str(repository)}),
            answered="keel.txt",
            bad=("git_add", {"repo_path": str(repository), "files": []}),
            finding="array-too-short",
            raw=[
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git_status","arguments":'
                f'{{"z":1e2, "a":12345678901234567890123, "repo_path" :{path},"\\u006d":"\\u00e9\\ud83d\\ude00"}}}}}}',
                '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"git_diff_unstaged","arguments":'
                f'{{"context_lines":3e0,"repo_path":{path}}}}}}}',
            ],
        ),
        Server(
            "server-everything",
            ["node", str(everything), "stdio"],
            good=("echo", {"message": "keel"}),
            answered="keel",
            bad=("get-sum", {"a": 1, "b": "2"}),
            finding="type-mismatch",
            raw=[
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-sum","arguments":'
                '{"b":12345678901234567890123,"a":1e2}}}',
                '{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"arguments":{"z":[1.0,-0],'
                '"message":"\\u006beel\\/"},"name":"echo"}}',
            ],
        ),
    ]


async def check(checks: Checks, server: Server, folder: Path, callgate: str, fixture: str) -> None:
    store = folder / f"{server.name}.sqlite"
    received = folder / f"{server.name}.received"
    gate = [callgate, "wrap", "--store", str(store), "--"]
    with open(folder / f"{server.name}.log", "w+") as log:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await with_public_client(checks, server, gate + server.command, log)
            with_raw_client(
                checks, server, [*gate, fixture, "--tee", str(received), "--", *server.command], received, log
            )
            with_command_line(checks, server, callgate, store)
        except Exception:
            log.seek(0)
            checks.that(f"{server.name}: the checks come to their end", False, traceback.format_exc() + log.read())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("callgate", type=Path)
    parser.add_argument("--node-modules", type=Path, default=Path(sys.prefix).parent / "node/node_modules")
    parser.add_argument("--fixture", type=Path)
    arguments = parser.parse_args()
    callgate = arguments.callgate.resolve()
    fixture = (arguments.fixture or callgate.with_name("callgate-fixture")).resolve()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for server in servers(Path(folder), arguments.node_modules.resolve()):
            asyncio.run(check(checks, server, Path(folder), str(callgate), str(fixture)))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
