"""One gate before public tool servers, as public clients see it over HTTP: that of FastMCP, and the inspector's command line.

    python serve.py CALLGATE [--node-modules FOLDER]

The gate stands before a server made with FastMCP, once as a program and once at an address, and before the public servers for
Node. Each client comes in both eras, FastMCP's in the newer one alone to the servers of `node_servers.py`. One line a check, then the counts; the exit code is 1 when a check failed.
"""

import argparse
import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import node_servers
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp import MCPError
from run import PATIENCE_SECONDS, REFUSAL, Checks

HERE = Path(__file__).resolve().parent
YARD = [sys.executable, str(HERE / "fastmcp_server.py")]
# What the clients call the two eras.
ERAS = {"newer": "auto", "older": "legacy"}

# The oldest Node on which the inspector runs.
NODE_MIN = 22
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"

ORDER = {"order": {"part": {"name": "keel", "parts": [{"name": "bolt"}]}, "count": 2}}


def newer_node(node_modules: Path) -> str:
    """A Node that is new enough: the machine's own, or the one that comes as a package."""
    own = shutil.which("node")
    version = subprocess.run([own, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    if int(version.removeprefix("v").split(".")[0]) >= NODE_MIN:
        return own
    return str(next(node_modules.glob("node-linux-*/bin/node")))


@contextmanager
def yard_at_address(log: Path):
    """The FastMCP server over HTTP; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(log, "w") as output:
        process = subprocess.Popen([*YARD, str(port)], stdout=output, stderr=output)
    try:
        until(lambda: is_open(port), "the FastMCP server listens")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(holds, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected that {what}")
        time.sleep(0.05)


@contextmanager
def gate(callgate: str, folder: Path, name: str, upstream: str):
    """A gate before one server; gives its address."""
    config, log = folder / f"{name}.toml", folder / f"{name}.log"
    config.write_text(f'[[upstreams]]\nname = "{name}"\nprefix = ""\n{upstream}\n')
    command = [callgate, "serve", "--config", str(config), "--store", str(folder / f"{name}.sqlite")]
    with open(log, "w") as output:
        process = subprocess.Popen([*command, "--listen", "127.0.0.1:0"], stderr=output)
    try:
        until(lambda: "listening at" in log.read_text(), "the gate listens")
        address = re.search(r"listening at (http://\S+)/mcp", log.read_text())[1]
        until(lambda: urllib.request.urlopen(f"{address}/readyz").read().startswith(b"1 of 1"), "its server is known")
        yield f"{address}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


def program(command: list[str]) -> str:
    return f"command = {json.dumps(command[0])}\nargs = {json.dumps(command[1:])}"


async def with_fastmcp(checks: Checks, what: str, url: str, mode: str) -> None:
    """The whole of the FastMCP server by its own client, beside the server itself."""
    direct, gated = Client(StdioTransport(YARD[0], YARD[1:]), mode=mode), Client(url, mode=mode)
    async with direct, gated:
        for kind in ["tools", "resources", "resource_templates", "prompts"]:
            there, here = [await getattr(client, f"list_{kind}")() for client in (direct, gated)]
            same = [item.model_dump() for item in here] == [item.model_dump() for item in there]
            checks.that(f"{what}: the same {len(there)} {kind}, every field equal", same and there, here)
        ordered = await gated.call_tool("order", ORDER)
        checks.that(f"{what}: a call comes back with its structure", ordered.data.part.parts[0].name == "bolt", ordered)
        steps: list[tuple] = []

        async def note(progress: float, total: float | None, _: str | None) -> None:
            steps.append((progress, total))

        sawn = await gated.call_tool("saw", {"planks": 3}, progress_handler=note)
        checks.that(f"{what}: a call tells how far it is", (sawn.data, steps) == (3, [(1, 3), (2, 3), (3, 3)]), steps)
        checks.that(f"{what}: a failure is the tool's own", await failure(gated, "sink", {}) == "the hull leaks")
        wrong = await failure(gated, "order", {"order": {"part": {"name": "keel"}, "count": 0}})
        checks.that(f"{what}: bad arguments are refused", "call-arguments-invalid" in wrong and "count" in wrong, wrong)
        unknown = await failure(gated, "no_such_tool", {})
        checks.that(f"{what}: an unknown tool is the protocol's error", unknown == -32602, unknown)
        rib = await gated.read_resource("yard://ribs/7")
        checks.that(f"{what}: a resource of a template is read", rib[0].text == "rib 7", rib)
        plan = await gated.get_prompt("plan", {"ship": "cog"})
        checks.that(f"{what}: a prompt is made", "of the cog" in plan.messages[0].content.text, plan)


async def failure(client: Client, tool: str, arguments: dict) -> str | int:
    try:
        return f"a result: {await client.call_tool(tool, arguments)}"
    except ToolError as error:
        return str(error)
    except MCPError as error:
        return error.code


class Inspector:
    """The inspector's command line, in one of the eras."""

    def __init__(self, node_modules: Path, url: str, era: str) -> None:
        node = newer_node(node_modules)
        self.command = [node, str(node_modules / INSPECTOR), "--cli", url, "--protocol-era", era, "--method"]

    def ask(self, *arguments: str) -> dict:
        done = subprocess.run(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        return json.loads(done.stdout) if done.stdout.strip() else {"stderr": done.stderr}


# What the inspector calls: a tool, an argument with a text in the answer to it, and a bad argument.
SAW = ("saw", "planks=2", "2", "planks=no")
ECHO = ("echo", "message=keel", "keel", "massage=keel")


def with_inspector(checks: Checks, what: str, inspector: Inspector, calls: tuple[str, str, str, str]) -> None:
    tool, argument, answered, bad = calls
    listed = [entry["name"] for entry in inspector.ask("tools/list").get("tools", [])]
    checks.that(f"{what}: {tool} is listed", tool in listed, listed)
    good = inspector.ask("tools/call", "--tool-name", tool, "--tool-arg", argument)
    text = "".join(part.get("text", "") for part in good.get("content", []))
    checks.that(f"{what}: a good call of {tool} passes", answered in text and not good.get("isError"), good)
    refused = inspector.ask("tools/call", "--tool-name", tool, "--tool-arg", bad)
    code = refused.get("_meta", {}).get(REFUSAL, {}).get("code")
    checks.that(f"{what}: a bad call of {tool} is refused", code == "call-arguments-invalid", refused)


def check(checks: Checks, callgate: str, node_modules: Path, folder: Path, name: str, upstream: str) -> None:
    with gate(callgate, folder, name, upstream) as url:
        for era, mode in ERAS.items():
            try:
                inspector = Inspector(node_modules, url, mode)
                calls = ECHO if name == "everything" else SAW
                with_inspector(checks, f"{name}, {era} inspector", inspector, calls)
                if name != "everything":
                    whole = with_fastmcp(checks, f"{name}, {era} FastMCP", url, mode)
                    asyncio.run(asyncio.wait_for(whole, PATIENCE_SECONDS))
            except Exception:
                log = (folder / f"{name}.log").read_text()
                checks.that(f"{name}, {era}: the checks come to their end", False, traceback.format_exc() + log)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("callgate", type=Path)
    parser.add_argument("--node-modules", type=Path, default=Path(sys.prefix).parent / "node/node_modules")
    arguments = parser.parse_args()
    callgate, node_modules = str(arguments.callgate.resolve()), arguments.node_modules.resolve()
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check(checks, callgate, node_modules, folder, "program", program(YARD))
        with yard_at_address(folder / "yard.log") as url:
            check(checks, callgate, node_modules, folder, "address", f'url = "{url}"')
        everything = ["node", str(node_modules / EVERYTHING), "stdio"]
        check(checks, callgate, node_modules, folder, "everything", program(everything))
        for name, (command, run) in node_servers.servers(newer_node(node_modules), node_modules, folder).items():
            upstream = program(command) + node_servers.environment(name)
            with gate(callgate, folder, name, upstream) as url:
                whole = node_servers.check(checks, name, url, run, folder / f"{name}.log")
                asyncio.run(asyncio.wait_for(whole, PATIENCE_SECONDS))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
