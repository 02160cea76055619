"""Validators for Python on the same cases as `callgate-bench engine`: nanoseconds from a text to the verdict on a good value.

usage: validators.py [FOLDER OF CASES]
"""
import json
import pathlib
import sys
import time

import fastjsonschema
import jsonschema_rs
import orjson

TURNS = 30
BATCH_NS = 3_000_000


def fast(schema):
    check = fastjsonschema.compile(schema)

    def is_valid(value):
        try:
            check(value)
            return True
        except fastjsonschema.JsonSchemaValueException:
            return False

    return is_valid


COMPILERS = {
    "jsonschema-rs": lambda schema: jsonschema_rs.validator_for(schema).is_valid,
    "fastjsonschema": fast,
}


def batch(work, runs):
    start = time.perf_counter_ns()
    for _ in range(runs):
        work()
    return time.perf_counter_ns() - start


def checked(check, text):
    return lambda: check(orjson.loads(text))


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "cases"
    print(f"from a text to the verdict on a good value, nanoseconds, the least of {TURNS} turns")
    print("\t".join(["case".ljust(10), "bytes", "orjson", *COMPILERS]))
    for case in sorted(path.parent for path in folder.glob("*/schema.json")):
        valid = (case / "valid.json").read_bytes().rstrip()
        contestants = [lambda valid=valid: orjson.loads(valid)]
        for who, compile_schema in COMPILERS.items():
            check = compile_schema(json.loads((case / "schema.json").read_bytes()))
            if not check(json.loads(valid)) or check(json.loads((case / "invalid.json").read_bytes())):
                sys.exit(f"{case.name}: {who} differs")
            contestants.append(checked(check, valid))
        runs = [max(1, 200 * BATCH_NS // batch(work, 200)) for work in contestants]
        least = [float("inf")] * len(contestants)
        for _ in range(TURNS):
            for at, work in enumerate(contestants):
                least[at] = min(least[at], batch(work, runs[at]) / runs[at])
        print("\t".join([case.name.ljust(10), str(len(valid)), *(f"{time:.0f}" for time in least)]))


if __name__ == "__main__":
    main()
