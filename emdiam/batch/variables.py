"""${NAME} and ${NAME:-DEFAULT} in the texts of a jobs file: OUT, the folder of the batch, and what the
environment has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
OUT = "OUT"


def expand(value: Any, variables: Mapping[str, str], missing: set[str]) -> Any:
    """The value with its variables replaced, in texts wherever they are in lists and tables; names that
    have neither a value nor a default are added to `missing`."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _replaced(match, variables, missing), value)
    if isinstance(value, list):
        return [expand(item, variables, missing) for item in value]
    if isinstance(value, dict):
        return {key: expand(item, variables, missing) for key, item in value.items()}
    return value


def _replaced(match: re.Match[str], variables: Mapping[str, str], missing: set[str]) -> str:
    name, default = match.group(1), match.group(2)
    # As in a shell, an empty value is none where there is a default.
    if variables.get(name) or (name in variables and default is None):
        return variables[name]
    if default is None:
        missing.add(name)
        return match.group(0)
    return default
