#!/usr/bin/env python3
"""Count phrases that readers stumble over, in documents and in the texts of the package that users see.

    python scripts/phrases.py [-v] [--inside]

    -v         print every place
    --inside   count in all docstrings and comments of the package instead

Texts of the package are the strings of several words in its code (messages, help, reports), and public docstrings.
tests/test_docs.py has the most that there may be.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.helpers.source import nodes_of  # noqa: E402 - from the root

PHRASES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in {
    "those that": r"\b(?:those|that|these) (?:that|which|who|whose)\b",
    "of which": r"\b(?:of|than|beside|out of) (?:which|whom)\b",
    "told": r"\b(?:tells?|told|telling|untold|begun|borne|lent)\b",
    # "Vertices that are gone", "the space that is left", "it held in 95 %".
    "gone": r"\b(?:is|are|was|were|be|been|it|they|as) (?:held|lent|gone|left)\b(?! out| over| open)",
    "so many": r"\b(?:so|as) (?:many|much|few)\b",
    "lies, lie": r"\b(?:lies|lie|lying)\b",
    "nobody": r"\b(?:nobody|no one|whoever|somebody|none (?:is|are|has|have|can|of|that|leads?|more))\b",
    # A clause in place of a noun: "what memory has no room for", "adds what v counts", "of what is read".
    "what ... is": r"\bwhat (?:[^\s.?:;,|()]+ ){0,6}?(?:is|are|was|were|has|have|had|takes?|needs?|makes?)\b"
                   r"|\b(?:of|by|for|from|than|to|as|with|at|on|but|all|beside) what\b(?! each)"
                   r"|\b(?:folds?|adds?|keeps?|holds?|removes?|loads?|reads?|takes?|follows?) what\b",
    # "A store that is there", "where there is one", "the run goes on", "gone on from": a verb of the field says more.
    "is there": r"\b(?:is|are|was|were) there(?:[.,;:)]| (?:is|are|and|whole|already)\b)"
                r"|\bwhere there (?:is|are)\b|\b(?:goes|going|gone) on\b",
    # A sentence that begins with its object, or with a share of it: "Of these, it keeps ...", "To each it gives ...".
    "object first": r"(?:^|[.:;] )(?:(?:of|to|with|for|from) (?:these|those|them|each|equal|all|several|two|both)[ ,]"
                    r"[^.:;]{0,60}\b(?:is|are|has|have|keeps?|takes?|gives?|wins?|reads?)\b"
                    r"|(?-i:Of (?:the|an?|its|\d)[ ,\w]|What |Whatever |Which |Nothing ))",
}.items()}
# Functions and classes that users meet; all public ones of api and __init__, and of docstrings.py its texts.
PUBLIC = frozenset("""
    AllPairs Approximation BudgetError Confidence ConvertReport DeviceError DisconnectedError Distances
    EccentricityResult EmdiamError Event Figures GenerateReport Graph InputError NotWritten Planned Profile
    ReorderReport Result ShortestPaths StoppedEarly Store StoreError Traversals VerifyReport VertexSet WarmupReport
    WeightChoice Witness WritingReport command
    """.split())
_CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|^#+ [^\n]*$", re.DOTALL | re.MULTILINE)


def documents() -> Iterator[tuple[str, str]]:
    """(file, text without code, headings and targets of links) of every document."""
    beside = (ROOT / name for name in ("bench/README.md", "tests/README.md", "paper/pyopensci.md"))
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *beside]:
        yield str(path.relative_to(ROOT)), _CODE.sub(" x ", path.read_text(encoding="utf-8"))


def shown_texts() -> Iterator[tuple[str, str]]:
    """(file, text) of strings that users may see, and of public docstrings."""
    for path in (ROOT / "emdiam").rglob("*.py"):
        name = path.relative_to(ROOT / "emdiam").with_suffix("").as_posix()
        nodes = nodes_of(path)
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) not in alone and node.value.count(" ") > 1 and "\n" not in node.value.strip():
                    yield f"emdiam/{name}.py", node.value
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
                if node.name in PUBLIC or (name in ("__init__", "api") and not node.name.startswith("_")):
                    yield f"emdiam/{name}.py", text


def inside_texts() -> Iterator[tuple[str, str]]:
    """(file, text) of every docstring and comment of the package."""
    for path in (ROOT / "emdiam").rglob("*.py"):
        name = str(path.relative_to(ROOT))
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and (text := ast.get_docstring(node)):
                yield name, text
        with path.open(encoding="utf-8") as file:
            comments = [token.string for token in tokenize.generate_tokens(file.readline)
                        if token.type == tokenize.COMMENT]
        yield from ((name, comment.lstrip("# ")) for comment in comments)


def found(inside: bool = False) -> list[tuple[str, str, str]]:
    """(phrase, file, the words around it) of every place."""
    places = []
    for name, text in inside_texts() if inside else (*documents(), *shown_texts()):
        plain = " ".join(text.split())
        for phrase, pattern in PHRASES.items():
            for hit in pattern.finditer(plain):
                places.append((phrase, name, plain[max(0, hit.start() - 50):hit.end() + 40]))
    return places


if __name__ == "__main__":
    every = found("--inside" in sys.argv)
    if "-v" in sys.argv:
        print(*(f"{phrase:12} {name}: ...{text}..." for phrase, name, text in every), sep="\n")
    print(dict(Counter(phrase for phrase, _, _ in every)), len(every))
