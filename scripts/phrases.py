#!/usr/bin/env python3
"""Count phrases that readers stumble over, in documents and in the texts of the package that users see.

    python scripts/phrases.py [-v]      # -v: every place

Texts of the package are the docstrings of what has a public name, and the texts in calls that raise errors, complain or
declare options. tests/test_docs.py has the most that there may be.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PHRASES = {
    "those that": r"\bthose that\b", "of which": r"\bof which\b", "told": r"\btold\b", "so many": r"\bso many\b",
    "lies, lie": r"\b(?:lies|lie)\b", "nobody": r"\bnobody\b", "what ... is": r"(?:^|[.:;] )What [^.?]{1,60} is\b",
    # A sentence that begins with its object: "Of these, it keeps ...", "To each it gives ...".
    "object first": (r"(?:^|\. )(?:Of (?:these|those|them|each|equal|all)|To each|With each)[ ,][^.]{0,60}"
                     r"\b(?:is|are|has|have|keeps?|takes?|gives?|wins?)\b"),
}
_SEEN = ("InputError", "StoreError", "BudgetError", "StoppedEarly", "EmdiamError", "DeviceError", "NotWritten",
         "complain", "Option", "Event", "Interrupted", "UsageError", "no_such")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def documents() -> Iterator[tuple[str, str]]:
    """(file, text without code) of every document."""
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        yield str(path.relative_to(ROOT)), _CODE.sub("", path.read_text(encoding="utf-8"))


def shown_texts() -> Iterator[tuple[str, str]]:
    """(file, text) of public docstrings, and of texts in calls that users see."""
    for path in (ROOT / "emdiam").rglob("*.py"):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if called in _SEEN:
                    yield from ((name, one.value) for one in ast.walk(node)
                                if isinstance(one, ast.Constant) and isinstance(one.value, str) and " " in one.value)
    for name in ("api.py", "__init__.py"):
        path = ROOT / "emdiam" / name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                public = isinstance(node, ast.Module) or not node.name.startswith("_")
                if public and (text := ast.get_docstring(node)):
                    yield f"emdiam/{name}", text
    for path in (ROOT / "emdiam" / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == "command" and (text := ast.get_docstring(node)):
                yield str(path.relative_to(ROOT)), text


def found() -> list[tuple[str, str, str]]:
    """(phrase, file, the words around it) of every place."""
    places = []
    for name, text in [*documents(), *shown_texts()]:
        plain = " ".join(text.split())
        for phrase, pattern in PHRASES.items():
            for hit in re.finditer(pattern, plain, re.IGNORECASE if phrase in ("nobody", "told") else 0):
                places.append((phrase, name, plain[max(0, hit.start() - 50):hit.end() + 40]))
    return places


if __name__ == "__main__":
    every = found()
    if "-v" in sys.argv:
        print(*(f"{phrase:12} {name}: ...{text}..." for phrase, name, text in every), sep="\n")
    print(dict(Counter(phrase for phrase, _, _ in every)), len(every))
