"""What the tool server of the conformance suite offers: the tools, resources and prompts that the suite asks for by name.

Nothing here knows how messages travel. A tool is a function of a `Call`, through which it also tells and asks its client.
"""

import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any, Callable

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021

# The pauses between what a tool tells; they make the messages of one call arrive one by one.
PAUSE_SECONDS = 0.05

# Request states are signed: clients keep them and may have changed them.
STATE_KEY = secrets.token_bytes(32)


class Fault(Exception):
    """An error of the protocol, which is no result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


@dataclass
class Call:
    """A request as a tool sees it."""

    modern: bool
    params: dict
    capabilities: dict
    # Sends a notification on the stream of this request.
    tell: Callable[[str, dict], None]
    # Sends a request on the stream of this request and waits for its result. Only the older era has it.
    ask: Callable[[str, dict], dict]
    # Says that a list is another one now.
    changed: Callable[[str], None]

    @property
    def arguments(self) -> dict:
        return self.params.get("arguments") or {}

    @property
    def responses(self) -> dict:
        """The answers to what an earlier round asked for."""
        responses = self.params.get("inputResponses")
        return responses if isinstance(responses, dict) else {}


def text(value: str) -> dict:
    return {"type": "text", "text": value}


def image() -> dict:
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def resource(uri: str, kind: str, value: str) -> dict:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": value}}


def content(*parts: dict) -> dict:
    return {"content": list(parts)}


# What tools tell while they work.


def with_logging(call: Call) -> dict:
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        call.tell("notifications/message", {"level": "info", "logger": "conformance", "data": line})
        time.sleep(PAUSE_SECONDS)
    return content(text("three lines were logged"))


def with_quiet_logging(call: Call) -> dict:
    """Logs only if the request says from which level on."""
    if "io.modelcontextprotocol/logLevel" in (call.params.get("_meta") or {}):
        return with_logging(call)
    return content(text("nothing was logged"))


def with_progress(call: Call) -> dict:
    token = (call.params.get("_meta") or {}).get("progressToken")
    for progress in [0, 50, 100]:
        if token is not None:
            call.tell("notifications/progress", {"progressToken": token, "progress": progress, "total": 100})
        time.sleep(PAUSE_SECONDS)
    return content(text("everything is done"))


# What tools ask while they work: of whoever waits in the older era, and by a result that names it in the newer one.


class Required(Exception):
    """The result that names what is needed to go on."""

    def __init__(self, requests: dict, state: str | None = None) -> None:
        super().__init__("input is required")
        self.result = {"resultType": "input_required", "inputRequests": requests}
        if state is not None:
            self.result["requestState"] = sign(state)


def ask(call: Call, requests: dict, state: str | None = None) -> dict:
    """Asks for all of this at once, and gives the answers under the same keys; a state that was given out comes back."""
    if not call.modern:
        return {key: call.ask(request["method"], request["params"]) for key, request in requests.items()}
    if not all(isinstance(call.responses.get(key), dict) for key in requests):
        raise Required(requests, state)
    if state is not None and state_of(call) != state:
        raise Fault(INVALID_PARAMS, "the request state is of another round")
    return {key: call.responses[key] for key in requests}


def sign(state: str) -> str:
    return f"{state}.{hmac.new(STATE_KEY, state.encode(), hashlib.sha256).hexdigest()}"


def state_of(call: Call) -> str:
    given = call.params.get("requestState")
    state = given.split(".")[0] if isinstance(given, str) else ""
    if not isinstance(given, str) or not hmac.compare_digest(sign(state), given):
        raise Fault(INVALID_PARAMS, "the request state is not one that was given out")
    return state


def object_schema(properties: dict, required: list[str] | None = None) -> dict:
    return {"type": "object", "properties": properties} | ({} if required is None else {"required": required})


def form(message: str, properties: dict, required: list[str] | None = None) -> dict:
    schema = object_schema(properties, required)
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def words(value: str, tokens: int) -> dict:
    message = {"role": "user", "content": text(value)}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}}


def name_form(message: str = "What is your name?") -> dict:
    return form(message, {"name": STRING}, ["name"])


STRING = {"type": "string"}
ROOTS = {"method": "roots/list", "params": {}}


def asks_prompt(call: Call) -> dict:
    answer = ask(call, {"words": words(call.arguments["prompt"], 100)})["words"]
    return content(text(f"LLM response: {answer['content']['text']}"))


def elicit(call: Call, request: dict, label: str) -> dict:
    answer = ask(call, {"answer": request})["answer"]
    given = json.dumps(answer.get("content", {}))
    return content(text(f"{label}: action={answer['action']}, content={given}"))


def asks_person(call: Call) -> dict:
    fields = {
        "username": STRING | {"description": "User's response"},
        "email": STRING | {"description": "User's email address"},
    }
    return elicit(call, form(call.arguments["message"], fields, list(fields)), "User response")


def asks_with_defaults(call: Call) -> dict:
    fields = {
        "name": STRING | {"default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": STRING | {"enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return elicit(call, form("Look over these values", fields), "Elicitation completed")


def titled(*titles: str) -> list[dict]:
    return [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]


def asks_to_choose(call: Call) -> dict:
    plain = STRING | {"enum": ["option1", "option2", "option3"]}
    named = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    choices = titled("First Choice", "Second Choice", "Third Choice")
    fields = {
        "untitledSingle": plain,
        "titledSingle": STRING | {"oneOf": titled("First Option", "Second Option", "Third Option")},
        "legacyEnum": STRING | named,
        "untitledMulti": {"type": "array", "items": plain},
        "titledMulti": {"type": "array", "items": {"anyOf": choices}},
    }
    return elicit(call, form("Choose", fields), "Elicitation completed")


def asks_name(call: Call) -> dict:
    answer = ask(call, {"user_name": name_form()})["user_name"]
    return content(text(f"Hello, {(answer.get('content') or {}).get('name')}!"))


def asks_model(call: Call) -> dict:
    answer = ask(call, {"capital_question": words("What is the capital of France?", 100)})
    return content(text(answer["capital_question"]["content"]["text"]))


def asks_roots(call: Call) -> dict:
    return content(text(json.dumps(ask(call, {"client_roots": ROOTS})["client_roots"]["roots"])))


def asks_with_state(call: Call) -> dict:
    ask(call, {"confirm": form("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])}, "confirmed")
    return content(text("state-ok"))


def asks_everything(call: Call) -> dict:
    greeting = words("Generate a greeting", 50)
    ask(call, {"user_name": name_form(), "greeting": greeting, "client_roots": ROOTS}, "everything")
    return content(text("all three were answered"))


def asks_twice(call: Call) -> dict:
    color = form("Step 2: What is your favorite color?", {"color": STRING}, ["color"])
    if "step2" not in call.responses:
        ask(call, {"step1": name_form("Step 1: What is your name?")}, "first")
        if call.modern:
            raise Required({"step2": color}, "second")
    ask(call, {"step2": color}, "second")
    return content(text("both steps were answered"))


def asks_what_is_declared(call: Call) -> dict:
    requests = {
        "elicitation": ("user_name", name_form()),
        "sampling": ("greeting", words("Generate a greeting", 50)),
        "roots": ("client_roots", ROOTS),
    }
    ask(call, dict(request for name, request in requests.items() if name in call.capabilities))
    return content(text("what was declared was answered"))


def needs_sampling(call: Call) -> dict:
    if "sampling" not in call.capabilities:
        raise Fault(MISSING_CAPABILITY, "it needs sampling", {"requiredCapabilities": {"sampling": {}}})
    return content(text("sampling is there"))


# Lists that change.


class Offers:
    """What is offered now. Two tools change what that is."""

    def __init__(self, modern: bool) -> None:
        self.tools = dict(TOOLS)
        self.prompts = dict(PROMPTS)
        self.tools["test_trigger_tool_change"] = tool("Adds or removes a tool", self.change_tools)
        self.tools["test_trigger_prompt_change"] = tool("Adds or removes a prompt", self.change_prompts)
        if modern:
            # The older era has no error for it.
            self.tools["test_missing_capability"] = tool("Needs sampling", needs_sampling)

    def change_tools(self, call: Call) -> dict:
        if self.tools.pop("test_extra_tool", None) is None:
            self.tools["test_extra_tool"] = tool("Comes and goes", lambda _: content(text("here")))
        call.changed("tools")
        return content(text("the tools have changed"))

    def change_prompts(self, call: Call) -> dict:
        if self.prompts.pop("test_extra_prompt", None) is None:
            self.prompts["test_extra_prompt"] = prompt("Comes and goes", lambda _: messages(text("here")))
        call.changed("prompts")
        return content(text("the prompts have changed"))


@dataclass
class Offer:
    """A tool or a prompt: its definition without the name, and what it does."""

    definition: dict
    run: Callable[[Call], dict]


def tool(description: str, run: Callable[[Call], dict], schema: dict | None = None) -> Offer:
    return Offer({"description": description, "inputSchema": schema or object_schema({})}, run)


def gives(*parts: dict) -> Callable[[Call], dict]:
    return lambda _: content(*parts)


def fails(_: Call) -> dict:
    return content(text("This tool intentionally returns an error for testing")) | {"isError": True}


# A schema that uses what only the newer dialect has; the suite looks for these keywords in the list.
DIALECT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

HEADERS = object_schema(
    {
        "region": STRING | {"x-mcp-header": "Region"},
        "priority": {"type": "integer", "x-mcp-header": "Priority"},
        "query": STRING,
    },
    ["region"],
)

TOOLS = {
    "test_simple_text": tool("Gives a text", gives(text("This is a simple text response for testing."))),
    "test_image_content": tool("Gives an image", gives(image())),
    "test_audio_content": tool(
        "Gives a sound", gives({"type": "audio", "data": WAV, "mimeType": "audio/wav"})
    ),
    "test_embedded_resource": tool(
        "Gives a resource",
        gives(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    "test_multiple_content_types": tool(
        "Gives a text, an image and a resource",
        gives(
            text("Multiple content types test:"),
            image(),
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ),
    ),
    "test_tool_with_logging": tool("Logs while it works", with_logging),
    "test_logging_tool": tool("Logs if it is asked to", with_quiet_logging),
    "test_error_handling": tool("Fails", fails),
    "test_tool_with_progress": tool("Says how far it is", with_progress),
    "test_sampling": tool("Asks a model", asks_prompt, object_schema({"prompt": STRING}, ["prompt"])),
    "test_elicitation": tool("Asks a person", asks_person, object_schema({"message": STRING}, ["message"])),
    "test_elicitation_sep1034_defaults": tool("Asks a person, with defaults", asks_with_defaults),
    "test_elicitation_sep1330_enums": tool("Asks a person to choose", asks_to_choose),
    "test_reconnection": tool("Gives a text", gives(text("nothing was cut"))),
    "json_schema_2020_12_tool": tool("Has a schema of 2020-12", gives(text("it fits")), DIALECT),
    "test_x_mcp_header": tool("Has arguments that headers repeat", gives(text("it fits")), HEADERS),
    "test_streaming_elicitation": tool("Asks for a name", asks_name),
    "test_input_required_result_elicitation": tool("Asks for a name", asks_name),
    "test_input_required_result_sampling": tool("Asks a model", asks_model),
    "test_input_required_result_list_roots": tool("Asks for roots", asks_roots),
    "test_input_required_result_request_state": tool("Asks with a state", asks_with_state),
    "test_input_required_result_tampered_state": tool("Asks with a state", asks_with_state),
    "test_input_required_result_multiple_inputs": tool("Asks for everything at once", asks_everything),
    "test_input_required_result_multi_round": tool("Asks twice", asks_twice),
    "test_input_required_result_capabilities": tool("Asks for what is declared", asks_what_is_declared),
}


# Prompts.


def messages(*parts: dict) -> dict:
    return {"messages": [{"role": "user", "content": part} for part in parts]}


def prompt(description: str, run: Callable[[Call], dict], *arguments: str) -> Offer:
    listed = [{"name": name, "description": f"The {name}", "required": True} for name in arguments]
    return Offer({"description": description} | ({"arguments": listed} if listed else {}), run)


def with_arguments(call: Call) -> dict:
    one, two = call.arguments["arg1"], call.arguments["arg2"]
    return messages(text(f"Prompt with arguments: arg1='{one}', arg2='{two}'"))


def with_resource(call: Call) -> dict:
    embedded = resource(call.arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return messages(embedded, text("Please process the embedded resource above."))


def asks_context(call: Call) -> dict:
    if not call.modern:
        return messages(text("nobody is asked for prompts in this era"))
    request = form("What context should the prompt use?", {"context": STRING}, ["context"])
    return messages(text(json.dumps(ask(call, {"user_context": request})["user_context"].get("content"))))


PROMPTS = {
    "test_simple_prompt": prompt("A text", lambda _: messages(text("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": prompt("A text with arguments", with_arguments, "arg1", "arg2"),
    "test_prompt_with_embedded_resource": prompt("A resource", with_resource, "resourceUri"),
    "test_prompt_with_image": prompt(
        "An image", lambda _: messages(image(), text("Please analyze the image above."))
    ),
    "test_input_required_result_prompt": prompt("Asks for a context", asks_context),
}


# Resources.

RESOURCES = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "It never changes."}),
}
TEMPLATE = "test://template/{id}/data"


def read(uri: str, modern: bool) -> dict:
    kind, value = RESOURCES.get(uri, (None, None))
    before, after = TEMPLATE.split("{id}")
    if uri.startswith(before) and uri.endswith(after):
        id = uri[len(before) : len(uri) - len(after)]
        data = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
        kind, value = "application/json", {"text": json.dumps(data)}
    if kind is None:
        raise Fault(INVALID_PARAMS if modern else -32002, "there is no such resource", {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": kind} | value]}
