"""The client that the conformance suite starts: it lets the gate speak to the suite's server, as far as a client can.

    python client.py CALLGATE URL

The suite judges what reaches its server, and that comes from the gate: `callgate serve` is started before the server at URL,
and all that it offers is listed, called and read through it. The suite says in the environment which scenario this is, in
which revision, and which calls it wants.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MODERN = "2026-07-28"
INFO = {"name": "conformance-client", "version": "1"}
CAPABILITIES = {"elicitation": {}, "sampling": {}, "roots": {}}

# How long the gate may take to know the server's tools.
READY_SECONDS = 20
# How long it may take to record them after that.
RECORDED_SECONDS = 8
# Rounds of a call that asks for input, at most.
ROUNDS = 5


class Gate:
    """A gate before one server, and a client of it over standard input and output."""

    def __init__(self, callgate: str, url: str, folder: Path, revision: str) -> None:
        config = folder / "gate.toml"
        config.write_text(f'[[upstreams]]\nname = "suite"\nprefix = ""\nurl = "{url}"\n')
        command = [callgate, "serve", "--stdio", "--config", str(config), "--store", str(folder / "store.sqlite")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, text=True)
        self.judged = threading.Event()
        threading.Thread(target=self.follow_log, daemon=True).start()
        self.modern = revision == MODERN
        self.serial = 0
        if not self.modern:
            params = {"protocolVersion": revision, "capabilities": CAPABILITIES, "clientInfo": INFO}
            self.ask("initialize", params)
            self.send({"method": "notifications/initialized"})

    def follow_log(self) -> None:
        for line in self.process.stderr:
            sys.stderr.write(line)
            if "tools are judged" in line:
                self.judged.set()

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        """Sends a request; gives its result, or nothing where that is an error."""
        self.serial += 1
        id = self.serial
        if self.modern:
            prefix = "io.modelcontextprotocol/"
            about = {"protocolVersion": MODERN, "clientInfo": INFO, "clientCapabilities": CAPABILITIES}
            params = params | {"_meta": {prefix + key: value for key, value in about.items()}}
        self.send({"id": id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": answer(message)})
            elif message.get("id") == id:
                print(f"{method} {params.get('name', '')}: {line.rstrip()}"[:500])
                return message.get("result") or {}
        raise RuntimeError("the gate has ended")

    def tools(self) -> list[dict]:
        """The server's tools, once the gate has judged and recorded them. A server may have none."""
        self.judged.wait(READY_SECONDS)
        deadline = time.monotonic() + RECORDED_SECONDS
        while True:
            tools = self.ask("tools/list", {}).get("tools", [])
            if tools or time.monotonic() > deadline:
                return tools
            time.sleep(0.2)

    def call(self, name: str, arguments: dict) -> None:
        """Calls a tool, and again with what it asks for."""
        given: dict = {}
        for _ in range(ROUNDS):
            result = self.ask("tools/call", {"name": name, "arguments": arguments} | given)
            if result.get("resultType") != "input_required":
                return
            questions = result.get("inputRequests") or {}
            given = {"inputResponses": {key: answer(question) for key, question in questions.items()}}
            if "requestState" in result:
                given["requestState"] = result["requestState"]

    def close(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=20)


def answer(question: dict) -> dict:
    """What a server gets that asks something."""
    match question["method"]:
        case "elicitation/create":
            schema = question.get("params", {}).get("requestedSchema") or {}
            return {"action": "accept", "content": {name: value(of) for name, of in schema["properties"].items()}}
        case "sampling/createMessage":
            said = {"type": "text", "text": "oak"}
            return {"role": "assistant", "content": said, "model": "none", "stopReason": "endTurn"}
        case _:
            return {"roots": []}


def value(schema: dict) -> object:
    """Something of this type; the default, if there is one."""
    if "default" in schema:
        return schema["default"]
    kinds = {"string": "oak", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return kinds.get(schema.get("type"))


def arguments_of(tool: dict, tools: list[dict]) -> dict:
    schema = tool["inputSchema"]
    arguments = {name: value(schema["properties"][name]) for name in schema.get("required", [])}
    if tool["name"] == "json_schema_echo":
        # It wants to see what became of the other tool's schema.
        other = next(tool for tool in tools if tool["name"] == "json_schema_2020_12_tool")
        arguments["schema"] = other["inputSchema"]
    return arguments


def drive(gate: Gate) -> None:
    tools = gate.tools()
    wanted = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls")
    calls = wanted or [{"name": tool["name"], "arguments": arguments_of(tool, tools)} for tool in tools]
    for call in calls:
        gate.call(call["name"], call["arguments"])
    for resource in gate.ask("resources/list", {}).get("resources", []):
        gate.ask("resources/read", {"uri": resource["uri"]})
    for prompt in gate.ask("prompts/list", {}).get("prompts", []):
        gate.ask("prompts/get", {"name": prompt["name"]})


def main() -> int:
    callgate, url = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(callgate, url, Path(folder), os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"])
        drive(gate)
        return gate.close()


if __name__ == "__main__":
    sys.exit(main())
