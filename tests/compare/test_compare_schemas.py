"""What compare and baseline write has the form that docs/schema states."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACKER = Path(os.environ.get("TRK_BIN") or ROOT / "build" / "resource-tracker").absolute()
if os.environ.get("TRK_MUST_WORK") == "1":
    import jsonschema
else:
    jsonschema = pytest.importorskip("jsonschema")


def check(name, document):
    schema = json.loads((ROOT / "docs/schema" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.fixture(name="track")
def tracker_in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C", "TRACKER_CLOUD": "off"}

    def track(*words, code=0):
        done = subprocess.run([TRACKER, *map(str, words)], env=environment, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=100)
        assert done.returncode == code, done.stderr
        return done.stdout
    return track


def test_comparison(track):
    track("-q", "--repeat", 4, "--key", "a", "sleep", "0.01")
    track("-q", "--repeat", 5, "--key", "b", "sh", "-c", f"{TRACKER} mark load -- sleep 0.01; true")
    gates = ["--fail-if", "wall_seconds > base + 100h", "--fail-if", "gpu_seconds > 1s", "--fail-if", "wall_seconds > 0s"]
    document = json.loads(track("compare", "a", "b", "--json", *gates, code=1))
    check("compare", document)
    assert {row["phase"] for row in document["figures"]} == {None, "load"}
    assert [gate["outcome"] for gate in document["gates"]] == ["passed", "unknown", "failed"]
    track("-q", "--repeat", 2, "-s", "series.json", "true")
    check("compare", json.loads(Path("series.json").read_text()))


def test_baseline(track):
    track("-q", "--repeat", 3, "--key", "b", "sh", "-c", f"{TRACKER} mark load -- sleep 0.01; true")
    track("baseline", "save", "main", "b")
    check("baseline", json.loads(Path(".resource-tracker/main.json").read_text()))
    check("compare", json.loads(track("baseline", "show", "main", "--json")))


def test_the_schemas_refuse_other_forms():
    wrong = {"compare": {"schema_version": 1}, "baseline": {"baseline_version": 1, "runs": [{"wall": 1}, None]}}
    for name, document in wrong.items():
        with pytest.raises(jsonschema.ValidationError):
            check(name, document)
