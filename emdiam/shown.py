"""How results, reports and stores show themselves: one line in Python, a small table in a notebook."""

from __future__ import annotations

import reprlib
from html import escape
from typing import Any, ClassVar


class _Short(reprlib.Repr):
    """A repr that leaves out the middle of what is long."""

    def repr_float(self, value: float, _: int) -> str:
        return f"{value:.3g}"


_SHORT = _Short()
_SHORT.maxlist = _SHORT.maxtuple = 4
_SHORT.maxdict, _SHORT.maxstring, _SHORT.maxother = 8, 200, 200


class Shown:
    """What has a short repr, and a table for notebooks. shown : names of attributes, with dots inside others; those
    that are None are left out. All that there is says `to_dict()`. A dataclass of this kind needs repr=False."""

    shown: ClassVar[tuple[str, ...]] = ()

    def _shown(self) -> dict[str, Any]:
        """The last part of each name, and what it stands for."""
        facts: dict[str, Any] = {}
        for name in self.shown:
            value: Any = self
            for part in name.split("."):
                value = getattr(value, part, None)
            if value is not None:
                facts[name.rpartition(".")[2]] = value
        return facts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_SHORT.repr(x)}' for name, x in self._shown().items())})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align: left'>{escape(name.removeprefix('n_').replace('_', ' '))}</th>"
                       f"<td style='text-align: left'>{escape(_text(value))}</td></tr>"
                       for name, value in self._shown().items())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def _text(value: Any) -> str:
    """For people: yes and no, and digits in groups of three."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else _SHORT.repr(value)
