"""Display of results, reports and stores: one line in Python, a small table in a notebook."""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction


class Words(str):
    """Text in place of a value, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Short(reprlib.Repr):
    """A repr that omits the middle of long values. Numbers keep all their digits."""

    def repr_Decimal(self, value: Decimal, _: int) -> str:  # noqa: N802 - named after the type
        return str(value)

    def repr_Fraction(self, value: Fraction, _: int) -> str:  # noqa: N802 - named after the type
        return str(value)

    def repr_float(self, value: float, _: int) -> str:
        return repr(float(value))


class _Rounded(_Short):
    """The same with three digits of floats, for measured seconds."""

    def repr_float(self, value: float, _: int) -> str:
        return f"{value:.3g}"


_SHORT, _ROUNDED = _Short(), _Rounded()
for _one in (_SHORT, _ROUNDED):
    _one.maxlist = _one.maxtuple = 4
    _one.maxdict, _one.maxstring, _one.maxother = 8, 200, 200
    _one.maxlong = 400
_MEASURED = "seconds"
# Endings of names whose values have four decimals in a table, or four digits below 1; bounds and lengths keep all
# digits.
_ESTIMATED = ("mean", "effective_diameter", "ratio")
# Items of a list, such as a path's vertices, in a table.
_FIRST = 8


class Shown:
    """Base of classes with a short repr, and a table for notebooks.

    shown : names of attributes, with dots for nested ones; attributes that are None are omitted, and so are directed,
    weighted and directions_dropped if False. A label is the last part of a name, or the whole name if several end in
    the same part. `to_dict()` has everything. A dataclass of this kind needs repr=False.
    """

    shown: ClassVar[tuple[str, ...]] = ()
    # Shown with an answer if true.
    _IF_TRUE: ClassVar[tuple[str, ...]] = ("directed", "weighted", "directions_dropped")
    # Table rows that are omitted if they only repeat the diameter.
    _DIAMETERS: ClassVar[tuple[str, ...]] = ("diameter_largest_component", "lower", "upper")

    def _shown(self) -> dict[str, Any]:
        """Labels and their values."""
        names = [*self.shown, *(name for name in self._IF_TRUE if name not in self.shown and hasattr(self, name))]
        last = Counter(name.rpartition(".")[2] for name in names)
        facts: dict[str, Any] = {}
        for name in names:
            value = self._fact(name)
            if value is not None and not (value is False and name in self._IF_TRUE):
                label = name.rpartition(".")[2]
                facts[label if last[label] == 1 else name] = value
        return facts

    def _fact(self, name: str) -> Any:
        """The value shown for the attribute with that name; None: it is omitted."""
        value: Any = self
        for part in name.split("."):
            value = getattr(value, part, None)
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(name, x)}' for name, x in self._shown().items())})"

    def _table_rows(self) -> dict[str, Any]:
        """Labels of the table and their values."""
        facts = self._shown()
        repeated = {name for name in self._DIAMETERS if name in facts and facts[name] == facts.get("diameter")}
        return {name: value for name, value in facts.items() if name not in repeated}

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><th style='text-align: left'>{escape(_words(name))}</th>"
                       f"<td style='text-align: left'>{escape(_text(name, value))}</td></tr>"
                       for name, value in self._table_rows().items())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>{self._picture()}"

    def _picture(self) -> str:
        """A small SVG picture below the table in a notebook, or ""."""
        return ""


def infinite(count: int | None, what: str = "component") -> Words:
    """The text for an infinite distance. count : of the disconnected parts."""
    return Words("infinite" if count is None else f"infinite ({count:,} {what}{'' if count == 1 else 's'})")


def _short(name: str, value: Any) -> str:
    """A value in a line of text."""
    return (_ROUNDED if name.endswith(_MEASURED) else _SHORT).repr(value)


def _words(name: str) -> str:
    """A label for people."""
    return name.removeprefix("n_").replace("_", " ").replace(".", " ")


def _text(name: str, value: Any) -> str:
    """A value for people: yes and no, digits in groups of three, and lists without quotes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and name.endswith(_ESTIMATED) and math.isfinite(value):
        return f"{round(value, 4 if abs(value) >= 1 else 3 - math.floor(math.log10(abs(value) or 1))):,}"
    if isinstance(value, int | float) or type(value).__name__ == "Decimal":  # its module takes time to import
        return f"{value:,}"
    if isinstance(value, Mapping) and name.endswith(_MEASURED):
        return ", ".join(f"{key} {_ROUNDED.repr(one)}" for key, one in value.items())
    if isinstance(value, Shown):
        return "; ".join(f"{_words(part)} {_text(part, one)}" for part, one in value._shown().items())
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value[:_FIRST]):
        return ", ".join([*(str(one) for one in value[:_FIRST]), *(["..."] if len(value) > _FIRST else [])])
    return value if isinstance(value, str) else _short(name, value)
