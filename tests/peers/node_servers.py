"""Public servers for Node behind the gate: what they list comes whole, and real calls of two of them do what they should."""

import json
import os
import traceback
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from run import Checks

MEMORY = "@modelcontextprotocol/server-memory/dist/index.js"
FILESYSTEM = "@modelcontextprotocol/server-filesystem/dist/index.js"
PLAYWRIGHT = "@playwright/mcp/cli.js"

KEEL = {"name": "keel", "entityType": "part", "observations": ["of oak"]}


async def the_same_tools(checks: Checks, what: str, direct: list[str], gated: Client) -> None:
    """The gate's list beside the server's own. Whatever is left out or changed is a failure."""
    async with Client(StdioTransport(direct[0], direct[1:], env=dict(os.environ))) as there:
        own = {tool.name: tool.model_dump() for tool in await there.list_tools()}
    here = {tool.name: tool.model_dump() for tool in await gated.list_tools()}
    wrong = {name for name in own.keys() | here.keys() if own.get(name) != here.get(name)}
    checks.that(f"{what}: the same {len(own)} tools, every field equal", own and not wrong, sorted(wrong))


async def refused(client: Client, tool: str, arguments: dict) -> str:
    try:
        return f"a result: {await client.call_tool(tool, arguments)}"
    except ToolError as error:
        return str(error)


async def with_memory(checks: Checks, command: list[str], gated: Client, store: Path) -> None:
    await the_same_tools(checks, "memory", command, gated)
    await gated.call_tool("create_entities", {"entities": [KEEL]})
    found = await gated.call_tool("open_nodes", {"names": ["keel"]})
    checks.that("memory: what was created is read back", "of oak" in str(found.content), found)
    before = store.read_text()
    bad = {"entities": [{"name": "mast", "entityType": "part", "observations": "tall"}]}
    answer = await refused(gated, "create_entities", bad)
    checks.that("memory: a text in place of a list is refused", "call-arguments-invalid" in answer, answer)
    checks.that("memory: nothing of it arrived", store.read_text() == before and "mast" not in before, before)


async def with_filesystem(checks: Checks, command: list[str], gated: Client, folder: Path) -> None:
    await the_same_tools(checks, "filesystem", command, gated)
    log = folder / "log.txt"
    await gated.call_tool("write_file", {"path": str(log), "content": "a ship's log\n"})
    checks.that("filesystem: a file is written", log.is_file() and log.read_text() == "a ship's log\n")
    read = await gated.call_tool("read_text_file", {"path": str(log)})
    checks.that("filesystem: and read", "a ship's log" in str(read.content), read)
    answer = await refused(gated, "write_file", {"path": str(log), "content": 7})
    checks.that("filesystem: a number in place of a text is refused", "call-arguments-invalid" in answer, answer)
    checks.that("filesystem: the file is as it was", log.read_text() == "a ship's log\n")
    outside = await refused(gated, "read_text_file", {"path": "/etc/hostname"})
    own_no = "call-" not in outside and not outside.startswith("a result")
    checks.that("filesystem: what the server itself forbids is its own failure", own_no, outside)


async def with_playwright(checks: Checks, command: list[str], gated: Client) -> None:
    await the_same_tools(checks, "playwright", command, gated)


def servers(node: str, node_modules: Path, folder: Path) -> dict[str, tuple[list[str], object]]:
    """Each by its name: its command and its checks."""
    store, scratch = folder / "memory.jsonl", folder / "scratch"
    scratch.mkdir()
    scratch = scratch.resolve()
    command = {
        "memory": [node, str(node_modules / MEMORY)],
        "filesystem": [node, str(node_modules / FILESYSTEM), str(scratch)],
        "playwright": [node, str(node_modules / PLAYWRIGHT)],
    }
    os.environ["MEMORY_FILE_PATH"] = str(store)
    return {
        "memory": (command["memory"], lambda checks, gated: with_memory(checks, command["memory"], gated, store)),
        "filesystem": (
            command["filesystem"],
            lambda checks, gated: with_filesystem(checks, command["filesystem"], gated, scratch),
        ),
        "playwright": (command["playwright"], lambda checks, gated: with_playwright(checks, command["playwright"], gated)),
    }


async def check(checks: Checks, name: str, url: str, run, log: Path) -> None:
    try:
        async with Client(url) as gated:
            await run(checks, gated)
    except Exception:
        checks.that(f"{name}: the checks come to their end", False, traceback.format_exc() + log.read_text())


def environment(name: str) -> str:
    """What the gate's configuration says of the server's environment."""
    if name != "memory":
        return ""
    return f"\nenv = {{ MEMORY_FILE_PATH = {json.dumps(os.environ['MEMORY_FILE_PATH'])} }}"
