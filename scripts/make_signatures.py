#!/usr/bin/env python3
"""Write emdiam/__init__.pyi: the public names with all keywords of functions, for type checkers and editors.

Run it after a change of the options (emdiam/runs/options.py) or of a docstring of emdiam/api.py; the tests compare.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from textwrap import indent
from typing import Any

import emdiam
from emdiam import api, api_stores

TARGET = Path(emdiam.__file__).with_suffix(".pyi")
_HEAD = '''"""Written by scripts/make_signatures.py from emdiam/runs/options.py and the docstrings of emdiam/api.py."""
# ruff: noqa: I001
'''
# Names in annotations that api.py and api_stores.py do not import.
_HOMES = {"Any": "typing", "Path": "pathlib", "Sequence": "collections.abc", "Listener": "emdiam.progress",
          "CheckpointOptions": "emdiam.checkpoint.options"}
_WIDTH = 120


def signature_text(name: str, function: Any) -> str:
    """The head of a function, a few parameters a line."""
    signature, parts, starred = inspect.signature(function), list[str](), False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        stars = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
        parts.append(f"{stars}{parameter.name}: {parameter.annotation}{default}" if parameter.name != "*" else "*")
    lines, line = [f"def {name}("], "   "
    for part in parts:
        if len(line) + len(part) + 2 > _WIDTH:
            lines, line = [*lines, line], "   "
        line += f" {part},"
    return "\n".join([*lines, line, f") -> {signature.return_annotation}:"])


def stub() -> str:
    """The whole file."""
    texts = {name: getattr(emdiam, name) for name in emdiam.__all__ if name != "__version__"}
    functions = {name: value for name, value in texts.items() if inspect.isfunction(value)}
    heads = {name: signature_text(name, function) for name, function in functions.items()}
    homes = {name: value.__module__ for name, value in texts.items() if name not in functions}
    for word in sorted({word for head in heads.values() for word in re.findall(r"\b[A-Z]\w+", head)}):
        if (known := getattr(api, word, getattr(api_stores, word, None))) is not None or word in _HOMES:
            homes[word] = _HOMES.get(word) or known.__module__
    imports = "\n".join(f"from {home} import {name}" + (f" as {name}" if name in texts else "")
                        for name, home in sorted(homes.items(), key=lambda pair: (pair[1], pair[0])))
    # Cleaned, since Python 3.13 takes the indentation off and others do not.
    docs = {name: indent(inspect.cleandoc(function.__doc__ or ""), "    ") for name, function in functions.items()}
    bodies = [f'{head}\n    """{docs[name].lstrip()}\n    """\n' for name, head in heads.items()]
    names = "\n".join(f'    "{name}",' for name in emdiam.__all__)
    return "\n".join([_HEAD, imports, "", f"__all__ = [\n{names}\n]\n", "__version__: str\n", *bodies])


if __name__ == "__main__":
    TARGET.write_text(stub(), encoding="utf-8")
