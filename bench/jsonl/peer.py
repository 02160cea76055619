"""The job of `callgate validate --jsonl`, done with the fastest validator that Python has: one call a line, checked
against the tool that it names, with the counts and the ten most frequent violations."""

import collections
import json
import sys
import time

import jsonschema_rs
import orjson

catalog, calls, mode = sys.argv[1:]
with open(catalog, "rb") as file:
    tools = json.load(file)
validators = {tool["name"]: jsonschema_rs.validator_for(tool["inputSchema"], validate_formats=False) for tool in tools}

start = time.perf_counter()
lines = valid = 0
by_keyword = collections.Counter()
violations = collections.Counter()
with open(calls, "rb") as file:
    for line in file:
        lines += 1
        call = orjson.loads(line)
        name = call["name"]
        validator = validators[name]
        arguments = call["arguments"]
        if validator.is_valid(arguments):
            valid += 1
        elif mode == "report":
            for error in validator.iter_errors(arguments):
                path = error.schema_path
                by_keyword[path[-1] if path else ""] += 1
                violations[name, *path] += 1
seconds = time.perf_counter() - start
most = violations.most_common(10)
print(json.dumps({"lines": lines, "valid": valid, "kinds": len(violations), "most": len(most), "seconds": seconds}))
