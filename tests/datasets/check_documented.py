#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/families.md has a section for every family with every parameter and its default, and a row for every weighting
and law of row lengths.

    check_documented.py SOURCE_ROOT
"""
import pathlib
import re
import sys


def entries(path, macro):
    """The entries of a .def file: for each its name and the text up to the next one."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    parts = re.split(rf"^{macro}\((\w+),", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs" / "families.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", page, flags=re.M | re.S))
    families = entries(root / "datasets" / "families.def", "IH_FAMILY")
    missing = []
    for name, body in families:
        for parameter, initial in re.findall(r"IH_PARAMETER\((\w+), ([^,]+),", body):
            pattern = rf"`{parameter}` \((?:−|-)?{re.escape(initial.lstrip('-'))}[,):]"
            if not re.search(pattern, sections.get(name, "")):
                missing.append(f"parameter {parameter} of {name} with its default {initial}")
        if name not in sections:
            missing.append(f"family {name}")
    missing += [f"section of {name}, which is no family" for name in sections if name not in dict(families)]
    for file, macro in (("weightings.def", "IH_WEIGHTING"), ("ragged.def", "IH_RAGGED")):
        missing += [f"row of {name}" for name, _ in entries(root / "datasets" / file, macro) if f"| `{name}` |" not in page]
    for line in missing:
        print(f"docs/families.md: {line}")
    print(f"{len(families)} families")
    return 1 if missing or len(families) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
