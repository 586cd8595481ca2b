"""The .properties of a graph of WebGraph; for a graph with labelled arcs, also those of its underlying graph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from . import bvgraph_kernels as bits

_MOST_NODES, _MOST_WINDOW, _MOST_BYTES = 1 << 60, 1 << 12, 1 << 20
_MOST_LINKS = 8
AGAIN = "fetch the file again"
_AS_ARCS = "write it with WebGraph as a BVGraph, or as arcs by ArcListASCIIGraph"

_KINDS = {"UNARY": bits.UNARY, "GAMMA": bits.GAMMA, "DELTA": bits.DELTA, "NIBBLE": bits.NIBBLE,
          "GOLOMB": bits.GOLOMB, "ZETA": bits.ZETA}
# The coded parts and their default codes, in the order of bvgraph_kernels (which has no offsets).
_USUAL = {"OUTDEGREES": "GAMMA", "REFERENCES": "UNARY", "BLOCK_COUNT": "GAMMA", "BLOCKS": "GAMMA", "INTERVALS": "GAMMA",
          "RESIDUALS": "ZETA", "OFFSETS": "GAMMA"}


@dataclass(frozen=True)
class Properties:
    """The parsed properties. codes : the codes of the parts in `_USUAL`, see bvgraph_kernels. little : whether the
    lowest bits of a byte come first. labelled : whether this is the underlying graph of one with labelled arcs."""

    graph: Path
    nodes: int
    arcs: int
    window: int
    least_interval: int
    little: bool
    codes: tuple[int, ...]
    labelled: bool


def read_properties(path: Path) -> dict[str, str]:
    """The keys and values of a file of Java properties. Raises InputError."""
    if not path.is_file():  # a pipe, too, is refused
        raise InputError("a BVGraph of WebGraph has its properties in a file beside it, which is not there", path=path,
                         remedy="fetch it too, or name another format with --format")
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES).decode("latin-1")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from error
    lines = (re.split(r"(?<!\\)[=:]", line.strip(), maxsplit=1) for line in re.sub(r"\\\r?\n\s*", "", text).splitlines()
             if line.strip()[:1] not in ("", "#", "!"))
    return {re.sub(r"\\(.)", r"\1", line[0]).strip(): re.sub(r"\\(.)", r"\1", "".join(line[1:])).strip()
            for line in lines}


def find_properties(path: Path) -> Properties:
    """The properties of the graph with this .graph or .properties file. Raises InputError if they are missing, invalid,
    or of another kind of graph."""
    file, labelled = path.with_suffix(".properties"), False
    for _ in range(_MOST_LINKS):
        values = read_properties(file)
        kind = values.get("graphclass", "")
        if kind.endswith(".BVGraph"):
            return _Checked(file, values).facts(labelled)
        beneath = values.get("underlyinggraph")
        if beneath is None or "label" not in kind.lower():
            raise InputError(f"graphs of WebGraph of class {kind or '(without a name)'} have no reader", path=file,
                             remedy=_AS_ARCS)
        file, labelled = file.parent / f"{beneath}.properties", True
    raise InputError("the graph beneath is named by properties that go round in a circle", path=file, remedy=_AS_ARCS)


@dataclass(frozen=True)
class _Checked:
    """Properties with their file, and checks of the values."""

    file: Path
    values: dict[str, str]

    def facts(self, labelled: bool) -> Properties:
        version, order = self._number("version", 1, 0), self.values.get("endianness", "big")
        if order not in ("big", "little"):
            raise self._error("endianness", "is big or little")
        nodes = self._number("nodes", _MOST_NODES)
        return Properties(self.file.with_suffix(".graph"), nodes, self._number("arcs", min(_MOST_NODES, nodes * nodes)),
                          self._number("windowsize", _MOST_WINDOW), self._number("minintervallength", _MOST_NODES),
                          order == "little", self._codes(version), labelled)

    def _error(self, name: str, what: str) -> InputError:
        return InputError(f"its {name} {what}", path=self.file, text=self.values.get(name, "")[:200], remedy=AGAIN)

    def _number(self, name: str, most: int, usual: int | None = None) -> int:
        if name not in self.values and usual is not None:
            return usual
        text = self.values.get(name, "")
        if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > most:
            raise self._error(name, f"is no number from 0 to {most:,}" if text else "is missing")
        return int(text)

    def _codes(self, version: int) -> tuple[int, ...]:
        named = dict(_USUAL)
        flags = [flag.strip() for flag in self.values.get("compressionflags", "").split("|") if flag.strip()]
        for flag in flags:
            what, _, code = flag.rpartition("_")
            if what not in named:
                raise self._error("compressionflags", f"have {flag}, which is not known")
            named[what] = code
        # Properties with a byte order are not written by the Java library, and use the code of blocks for block counts.
        if "endianness" in self.values and not any(flag.startswith("BLOCK_COUNT_") for flag in flags):
            named["BLOCK_COUNT"] = named["BLOCKS"]
        return tuple(self._code(what, code, version) for what, code in named.items())

    def _code(self, what: str, code: str, version: int) -> int:
        name, k = (code[:-1], code[-1]) if version > 0 and code[-1:].isdecimal() else (code, "")
        if name not in _KINDS or (k and name != "ZETA"):
            raise self._error("compressionflags", f"have the code {code} for {what}, which has no reader")
        if name not in ("ZETA", "GOLOMB"):
            return _KINDS[name]
        parameter = int(k) if k else self._number("zetak", 1 << 31, 3)
        if not 1 <= parameter <= (32 if name == "ZETA" else 1 << 31):
            raise self._error("zetak", f"is no parameter of {name.lower()}")
        return _KINDS[name] | parameter << 8
