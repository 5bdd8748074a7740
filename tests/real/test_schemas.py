"""What --json prints is one document, and docs/schema says what it has."""

import json
from pathlib import Path

import helpers
import pytest
from helpers import binary

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schema"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, place="$"):
    """The part of JSON Schema that our files use."""
    known = {"$schema", "title", "type", "enum", "properties", "required", "additionalProperties", "items"}
    assert set(schema) <= known, (place, set(schema) - known)
    if "enum" in schema:
        assert value in schema["enum"], (place, value)
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(is_type(value, name) for name in names), (place, value, names)
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value), (place, set(schema["required"]) - set(value))
        others = schema.get("additionalProperties", True)
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, others)
            assert inner is not False, (place, key)
            if inner is not True:
                check(item, inner, f"{place}.{key}")
    for number, item in enumerate(value if isinstance(value, list) and "items" in schema else ()):
        check(item, schema["items"], f"{place}[{number}]")


def test_the_checker_refuses():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
    for wrong in ([], {}, {"a": 1.5}, {"a": True}, {"a": 1, "b": 2}):
        with pytest.raises(AssertionError):
            check(wrong, schema)
    check({"a": 1}, schema)


@pytest.mark.parametrize("name,words", [
    ("runs", ["runs", "--json"]), ("show", ["show", "--json"]), ("recommend", ["recommend", "--json"]),
    ("info", ["info", "--cloud=off", "--json"]), ("catalog", ["catalog", "--json"]),
    ("snapshot", ["export", "--format", "snapshot"]), ("summary", None),
])
def test_json_is_what_its_schema_says(name, words):
    mark = f"{binary()} mark load -- sleep 0.05; {binary()} mark ready; sleep 0.1; exit 3"
    for job in (["true"], ["sh", "-c", mark]):
        helpers.run([binary(), "-q", "-i", "0.05", "-s", "summary.json", "--force", *job])
    text = Path("summary.json").read_text() if words is None else helpers.run(
        [binary(), *words], capture_output=True, text=True, check=True).stdout
    check(json.loads(text), json.loads((SCHEMAS / f"{name}.json").read_text()))
