"""The tool server behind the gate while the conformance suite asks: over Streamable HTTP, in one of both eras.

    python fixture.py legacy|modern

Prints its address and serves until its input ends. It is strict with its client, which is the gate: what does not agree with
its revision is answered with an error.
"""

import base64
import json
import queue
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import offers
from offers import INVALID_PARAMS, Call, Fault, Offers, Required

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
PREFIX = "io.modelcontextprotocol/"
METHOD_NOT_FOUND = -32601
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

# How long a client may take to answer a question.
ANSWER_SECONDS = 20

INFO = {"name": "conformance-fixture", "version": "1"}
LIST_CHANGED = {"listChanged": True}
CAPABILITIES = {"tools": LIST_CHANGED, "prompts": LIST_CHANGED, "resources": {"subscribe": True}, "completions": {}}
LEGACY_CAPABILITIES = CAPABILITIES | {"logging": {}}
CACHED = {"ttlMs": 0, "cacheScope": "private"}


class State:
    """What all connections share."""

    def __init__(self, modern: bool) -> None:
        self.modern = modern
        self.offers = Offers(modern)
        self.lock = threading.Lock()
        # Sessions of the older era, each with what its client has declared.
        self.sessions: dict[str, dict] = {}
        # Open streams on which changes are told: of a session, or of a subscription with its filter.
        self.listeners: list["Listener"] = []
        # Questions that wait for their answers.
        self.questions: dict[str, queue.Queue] = {}

    def changed(self, what: str) -> None:
        with self.lock:
            listeners = list(self.listeners)
        for listener in listeners:
            listener.tell(what)


class Listener:
    """A stream that is open until its client leaves."""

    def __init__(self, subscription: object, wanted: dict | None) -> None:
        self.messages: queue.Queue = queue.Queue()
        self.subscription = subscription
        self.wanted = wanted

    def tell(self, what: str) -> None:
        if self.wanted is not None and not self.wanted.get(f"{what}ListChanged"):
            return
        params = {} if self.wanted is None else self.mark()
        self.messages.put({"jsonrpc": "2.0", "method": f"notifications/{what}/list_changed", "params": params})

    def mark(self) -> dict:
        return {"_meta": {f"{PREFIX}subscriptionId": self.subscription}}


class Exchange(BaseHTTPRequestHandler):
    """One request of a client."""

    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_: object) -> None:
        pass

    # What comes in.

    def do_POST(self) -> None:
        self.streaming = False
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "method" not in message:
            waiting = self.state.questions.pop(str(message.get("id")), None)
            if waiting:
                waiting.put(message)
            return self.status(202)
        if "id" not in message:
            return self.status(202)
        id = message["id"]
        try:
            result = self.serve(message["method"], message.get("params") or {}, id)
        except Fault as fault:
            return self.answer({"jsonrpc": "2.0", "id": id, "error": fault.error}, self.status_of(fault))
        if result is not None:
            self.answer({"jsonrpc": "2.0", "id": id, "result": result}, 200)

    def do_GET(self) -> None:
        """The stream of a session, on which the server says what belongs to no request."""
        if self.state.modern or self.headers.get("mcp-session-id") not in self.state.sessions:
            return self.status(405)
        self.listen(Listener(None, None), None)

    def do_DELETE(self) -> None:
        known = self.state.sessions.pop(self.headers.get("mcp-session-id"), None)
        self.status(405 if self.state.modern else 204 if known is not None else 404)

    # What is made of it.

    def serve(self, method: str, params: dict, id: object) -> dict | None:
        if self.state.modern:
            capabilities = self.agree(method, params)
        elif method == "initialize":
            return self.begin(params)
        else:
            session = self.headers.get("mcp-session-id")
            if session not in self.state.sessions:
                raise Fault(INVALID_PARAMS, "there is no such session")
            capabilities = self.state.sessions[session]
        call = Call(self.state.modern, params, capabilities, self.tell, self.ask, self.state.changed)
        if method == "subscriptions/listen" and self.state.modern:
            wanted = params.get("notifications") or {}
            listener = Listener(id, wanted)
            first = {"method": "notifications/subscriptions/acknowledged"}
            first["params"] = listener.mark() | {"notifications": wanted}
            return self.listen(listener, {"jsonrpc": "2.0"} | first)
        try:
            result = self.result(method, call)
        except Required as required:
            result = required.result
        if self.state.modern:
            result = {"resultType": "complete"} | result
            result.setdefault("_meta", {})[f"{PREFIX}serverInfo"] = INFO
        return result

    def result(self, method: str, call: Call) -> dict:
        modern, current, params = self.state.modern, self.state.offers, call.params
        cached = CACHED if modern else {}
        match method:
            case "server/discover" if modern:
                return {"supportedVersions": [MODERN], "capabilities": CAPABILITIES} | cached
            case "tools/list":
                return {"tools": listed(current.tools)} | cached
            case "tools/call":
                return offered(current.tools, params).run(call)
            case "prompts/list":
                return {"prompts": listed(current.prompts)} | cached
            case "prompts/get":
                return offered(current.prompts, params).run(call)
            case "resources/list":
                texts = {uri: kind for uri, (kind, _) in offers.RESOURCES.items()}
                rows = [about(uri) | {"uri": uri, "mimeType": kind} for uri, kind in texts.items()]
                return {"resources": rows} | cached
            case "resources/templates/list":
                row = about(offers.TEMPLATE) | {"uriTemplate": offers.TEMPLATE, "mimeType": "application/json"}
                return {"resourceTemplates": [row]} | cached
            case "resources/read":
                return offers.read(params["uri"], modern) | cached
            case "completion/complete":
                start = params["argument"]["value"]
                values = [word for word in ["paris", "park", "party", "oak"] if word.startswith(start)]
                return {"completion": {"values": values, "total": len(values), "hasMore": False}}
            case "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if not modern:
                return {}
            case _:
                raise Fault(METHOD_NOT_FOUND, "there is no such method")

    def begin(self, params: dict) -> dict:
        session = uuid.uuid4().hex
        self.state.sessions[session] = params["capabilities"]
        self.session = session
        return {"protocolVersion": LEGACY, "capabilities": LEGACY_CAPABILITIES, "serverInfo": INFO}

    def agree(self, method: str, params: dict) -> dict:
        """Checks that headers and body say the same; gives what the client has declared."""
        meta = params.get("_meta") or {}
        version = meta.get(f"{PREFIX}protocolVersion")
        capabilities = meta.get(f"{PREFIX}clientCapabilities")
        if version is None or not isinstance(capabilities, dict):
            raise Fault(INVALID_PARAMS, "`_meta` does not say who asks")
        name = params.get("uri") if method == "resources/read" else params.get("name")
        if method not in ("tools/call", "prompts/get", "resources/read"):
            name = None
        expected = {"mcp-protocol-version": version, "mcp-method": method, "mcp-name": name}
        if method == "tools/call" and name in self.state.offers.tools:
            schema = self.state.offers.tools[name].definition["inputSchema"]
            for key, property in schema["properties"].items():
                if "x-mcp-header" in property:
                    value = (params.get("arguments") or {}).get(key)
                    expected[f"mcp-param-{property['x-mcp-header'].lower()}"] = spelled(value)
        for header, value in expected.items():
            if decoded(self.headers.get(header)) != value:
                raise Fault(HEADER_MISMATCH, f"the header {header} and the body do not agree")
        if version != MODERN:
            data = {"supported": [MODERN], "requested": version}
            raise Fault(UNSUPPORTED_VERSION, "this revision is not spoken here", data)
        return capabilities

    # What goes out.

    def tell(self, method: str, params: dict) -> None:
        self.event({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: dict) -> dict:
        id = uuid.uuid4().hex
        waiting: queue.Queue = queue.Queue()
        self.state.questions[id] = waiting
        self.event({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        try:
            answer = waiting.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            raise Fault(-32603, "nobody has answered") from None
        if "error" in answer:
            raise Fault(-32603, f"the question was answered with {answer['error']['code']}")
        return answer["result"]

    def listen(self, listener: Listener, first: dict | None) -> None:
        with self.state.lock:
            self.state.listeners.append(listener)
        try:
            self.begin_stream()
            if first:
                self.event(first)
            while True:
                try:
                    self.event(listener.messages.get(timeout=1))
                except queue.Empty:
                    self.chunk(b": here\n\n")
        except OSError:
            return
        finally:
            with self.state.lock:
                self.state.listeners.remove(listener)
            self.close_connection = True

    def answer(self, message: dict, code: int) -> None:
        if self.streaming:
            self.event(message)
            return self.chunk(b"")
        body = json.dumps(message).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if hasattr(self, "session"):
            self.send_header("mcp-session-id", self.session)
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        self.streaming = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def event(self, message: dict) -> None:
        if not self.streaming:
            self.begin_stream()
        # One event spelled as the standard also allows: lines that end in CR alone.
        self.chunk(b"event: message\rdata: " + json.dumps(message).encode() + b"\r\r\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def status(self, code: int) -> None:
        self.send_response(code)
        self.send_header("content-length", "0")
        self.end_headers()

    def status_of(self, fault: Fault) -> int:
        code = fault.error["code"]
        if not self.state.modern:
            return 404 if fault.error["message"] == "there is no such session" else 200
        return 404 if code == METHOD_NOT_FOUND else 400 if code <= HEADER_MISMATCH else 200


def listed(offered: dict) -> list[dict]:
    return [{"name": name} | offer.definition for name, offer in offered.items()]


def offered(known: dict, params: dict) -> offers.Offer:
    name = params.get("name")
    if name not in known:
        raise Fault(INVALID_PARAMS, "there is nothing of that name")
    return known[name]


def about(uri: str) -> dict:
    return {"name": uri.split("//")[1].split("/")[0], "description": f"What is at {uri}"}


def spelled(value: object) -> str | None:
    """An argument as its header has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def decoded(value: str | None) -> str | None:
    if value and value.startswith("=?base64?") and value.endswith("?="):
        return base64.b64decode(value[9:-2]).decode()
    return value


def main() -> None:
    Exchange.state = State(sys.argv[1] == "modern")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
