"""Whether a JSON value has the form that a schema says: the words that docs/certificates/schema.json uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict), "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str), "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None, "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float)}


def fits(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Raises KeyError for a word that is not known here."""
    root = schema if root is None else root
    return all(_WORDS[word](value, said, schema, root) for word, said in schema.items())


def _inside(root: dict[str, Any], reference: str) -> Any:
    """What a reference to a place of the schema itself leads to."""
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def _properties(value: Any, said: dict[str, Any], _schema: Any, root: dict[str, Any]) -> bool:
    return not isinstance(value, dict) or all(fits(value[name], said[name], root) for name in value.keys() & said)


def _additional(value: Any, said: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    names = value.keys() - schema.get("properties", {}) if isinstance(value, dict) else ()
    others = [value[name] for name in names]
    return not others if said is False else all(fits(one, said, root) for one in others)


def _matches(value: Any, said: str, *_rest: Any) -> bool:
    return not isinstance(value, str) or re.search(said, value) is not None


_Word = Callable[[Any, Any, dict[str, Any], dict[str, Any]], bool]
_NUMBER, _LIST = _TYPES["number"], _TYPES["array"]
_WORDS: dict[str, _Word] = {
    **dict.fromkeys(("$schema", "$defs", "title", "description"), lambda *_: True),
    "type": lambda value, said, _schema, _root: _TYPES[said](value),
    "const": lambda value, said, _schema, _root: type(value) is type(said) and value == said,
    "enum": lambda value, said, _schema, _root: value in said,
    "required": lambda value, said, _schema, _root: not isinstance(value, dict) or value.keys() >= set(said),
    "properties": _properties, "additionalProperties": _additional, "pattern": _matches,
    "propertyNames": lambda value, said, _schema, root: all(fits(name, said, root) for name in value),
    "items": lambda value, said, _schema, root: not _LIST(value) or all(fits(one, said, root) for one in value),
    "prefixItems": lambda value, said, _schema, root: not _LIST(value) or all(
        fits(one, form, root) for one, form in zip(value, said, strict=False)),
    "minItems": lambda value, said, _schema, _root: not _LIST(value) or len(value) >= said,
    "maxItems": lambda value, said, _schema, _root: not _LIST(value) or len(value) <= said,
    "minimum": lambda value, said, _schema, _root: not _NUMBER(value) or value >= said,
    "maximum": lambda value, said, _schema, _root: not _NUMBER(value) or value <= said,
    "anyOf": lambda value, said, _schema, root: any(fits(value, one, root) for one in said),
    "oneOf": lambda value, said, _schema, root: sum(fits(value, one, root) for one in said) == 1,
    "$ref": lambda value, said, _schema, root: fits(value, _inside(root, said), root),
}
