"""emdiam: exact and approximate diameters of graphs that fit neither in RAM nor in VRAM.

>>> import emdiam
>>> emdiam.convert("edges.txt.gz", "graph.zarr", memory="1GiB")
>>> emdiam.diameter("graph.zarr", memory="4GiB").diameter
"""

from __future__ import annotations

import os
from importlib import import_module

from ._version import __version__

# Type checkers read __init__.pyi, which is made of the table of options (scripts/make_signatures.py).
__all__ = [
    "BudgetError", "DeviceError", "DisconnectedError", "EmdiamError", "Event", "InputError", "StoppedEarly",
    "StoreError", "__version__", "all_pairs", "apply", "approximate", "convert", "diameter", "distances",
    "eccentricities", "exact", "generate", "open", "plan", "profile", "reorder", "shortest_paths", "tradeoff", "verify",
    "warmup",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import emdiam` and `emdiam --help` are quick."""
    if name not in __all__:
        raise _unknown(name)
    home = ".progress" if name == "Event" else ".errors" if name.endswith(("Error", "Early")) else ".api"
    value = getattr(import_module(home, __name__), name)
    if home == ".api":
        value = import_module(".terms", __name__).with_keyword_terms(value)
    globals()[name] = value
    return value


def _unknown(name: str) -> AttributeError:
    """The error for an unknown name; it suggests the function of the command with that name, or the closest name."""
    text = f"module {__name__!r} has no attribute {name!r}"
    # `from . import module` asks for the module here before it imports it.
    if name.startswith("_") or os.path.exists(os.path.join(*__path__, f"{name}.py")):
        return AttributeError(text)
    from .errors import closest
    from .runs.options import FUNCTIONS

    close = next((function for function, (command, _) in FUNCTIONS.items() if command == name),
                 None) or closest(name, __all__)
    return AttributeError(text if close is None else f"{text}; did you mean {close!r}?")


def __dir__() -> list[str]:
    return sorted(__all__)
