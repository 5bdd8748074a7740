"""Include directions: base <- metric <- memory, account <- platform <- gpu, session; the outputs use metric and base; the
command line and the bindings use the public header only. What belongs to one operating system is included in its folder
below src/platform alone: other code includes the headers of src/platform itself, and platform/os.h is below all. File
names are unique, so that a name in an error message or a stack trace says which file it is."""

import os
import re

import pytest
from tree import ROOT, c_paths, paths

PUBLIC = "resource_tracker.h"
EVERYWHERE = ("platform/os.h",)  # system calls that POSIX has no form of; it includes nothing of ours
MAY_INCLUDE = {
    "base": "base",
    "metric": "metric base",
    "account": "account metric base",
    "memory": "memory metric base",
    "platform": "platform memory account metric base",
    "gpu": "gpu platform account metric base",
    "run": "run metric base",
    "write": "write run metric base",
    "compare": "compare base",
    "sides": "sides compare session advise catalog run metric base",
    "report": "report sides compare advise catalog run metric base",
    "advise": "advise catalog run metric base",
    "tracker": "tracker session host run write metric base",
    "gputracker": "gputracker tracker session gpu platform account run write metric base",
    "net": "net base",
    "catalog": "catalog net run metric base",
    "host": "host catalog gpu platform run metric base",
    "session": "session host run gpu platform memory account write metric base",
}
INCLUDE = re.compile(rf'(?m)^\s*#\s*include\s+(?:"([^"]+)"|<((?:{"|".join(MAY_INCLUDE)})/[^>]+)>)')
# Names that a folder has by convention.
REPEATED = {"meson.build", "README.md", "conftest.py", "__init__.py", "run", "build", "exports.map", "common.py"}
NAMED_BY_OTHERS = ("bindings/python/", "tests/fixtures/", "tests/fuzz/corpus/", "tests/cli/cases/")


def wrong_includes(texts):
    """texts: {path: text}. What each C file includes against the rules."""
    own = {path for path in texts if path.endswith((".h", ".def"))}
    wrong = []
    for path, text in texts.items():
        top, *rest = path.split("/")
        for quoted, bracketed in INCLUDE.findall(text) if path.endswith((".c", ".h")) else ():
            name = quoted or bracketed
            if name == PUBLIC or (name in EVERYWHERE and top in ("src", "cli")):
                continue
            if top == "src" and len(rest) > 1:
                allowed = name.split("/")[0] in MAY_INCLUDE[rest[0]].split()
                # A system's own folder is known to itself: platform/linux/x.h to src/platform/linux.
                if name.startswith("platform/") and name.count("/") > 1:
                    allowed &= os.path.dirname(path) == os.path.join("src", os.path.dirname(name))
            elif top in ("cli", "bindings"):
                allowed = os.path.join(os.path.dirname(path), name) in own
            else:
                allowed = True
            if not allowed:
                wrong.append(f"{path} may not include {name}")
    return wrong


def test_directions():
    texts = {path: (ROOT / path).read_text() for path in [*c_paths(), *paths("*.def")]}
    wrong = wrong_includes(texts)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("texts, count", [
    ({"src/base/a.c": '#include "metric/sample.h"\n'}, 1),
    ({"src/write/w.c": ' # include "platform/linux/x.h"\n'}, 1),
    ({"src/base/a.c": "#include <session/session.h>\n"}, 1),
    ({"src/base/a.c": "#include <sys/stat.h>\n"}, 0),
    ({"cli/main.c": '#include "base/file.h"\n'}, 1),
    ({"cli/cli.h": "", "cli/main.c": '#include "cli.h"\n#include "resource_tracker.h"\n'}, 0),
    ({"cli/main.c": '#include "platform/os.h"\n#include "platform/platform.h"\n'}, 1),
    ({"bindings/python/native/a.c": '#include "platform/os.h"\n'}, 1),
    ({"src/base/a.c": '#include "platform/os.h"\n#include "platform/platform.h"\n'}, 1),
    ({"src/session/s.c": '#include "platform/linux/x.h"\n'}, 1),
    ({"src/session/s.c": '#include "platform/platform.h"\n'}, 0),
    ({"src/platform/shared.c": '#include "platform/linux/x.h"\n'}, 1),
    ({"src/platform/linux/a.c": '#include "platform/linux/x.h"\n'}, 0),
    ({"tests/unit/test_a.c": '#include "platform/linux/x.h"\n'}, 0),
])
def test_the_rule(texts, count):
    assert len(wrong_includes(texts)) == count


def test_every_folder_has_a_rule():
    assert {path.split("/")[1] for path in c_paths() if path.startswith("src/")} == set(MAY_INCLUDE)


def test_names_are_unique():
    seen = {}
    for path in paths():
        name = os.path.basename(path)
        if name not in REPEATED and not name.startswith(".") and not path.startswith(NAMED_BY_OTHERS):
            seen.setdefault(name, []).append(path)
    assert [found for found in seen.values() if len(found) > 1] == []
