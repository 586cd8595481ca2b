#!/usr/bin/env python3
"""inventory.py [-o FILE] [--against FILE]: every command, option, method, format, class, variant and field of a result.

For changes that should lose nothing: write the inventory of the tree before, compare the tree after. Prints JSON, or
with --against what is gone (exit code 1) and what is new. Run it from the root of a tree, with the Python of its tests.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Commands by the kind of method that `plan` names.
COMMANDS = {"exact": "exact", "approximation": "approx", "eccentricities": "ecc"}


def first_of(*places: str) -> Any:
    """The attribute of the first module that is there: rooms may have moved."""
    for place in places:
        module, _, name = place.rpartition(".")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise SystemExit(f"none of {', '.join(places)} is there")


def options_of(command: Any, words: str) -> list[str]:
    """Options and arguments of a command and its subcommands, with choices and defaults."""
    import click

    lines = []
    with click.Context(command) as context:
        for parameter in command.params:
            names = "/".join((*parameter.opts, *parameter.secondary_opts))
            choices = "|".join(map(str, getattr(parameter.type, "choices", ())))
            default = "(computed)" if callable(parameter.default) else repr(parameter.to_info_dict().get("default"))
            lines.append(f"{words} {names} {choices} default={default}".replace("  ", " "))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None:
                    lines += [f"{words} {name}", *options_of(child, f"{words} {name}")]
    return lines


def paths_of(value: Any, path: str) -> set[str]:
    """The names of fields, with [] for entries of a list. Which stages a run needs depends on the clock."""
    if isinstance(value, dict) and not path.endswith("stage_seconds"):
        return {path, *(one for key, inner in value.items() for one in paths_of(inner, f"{path}.{key}"))}
    if isinstance(value, list):
        return {path, *(one for inner in value for one in paths_of(inner, f"{path}[]"))}
    return {path}


def results(folder: Path) -> set[str]:
    """Fields of the answers of all commands and methods on a small graph."""
    found: set[str] = set()

    def call(name: str, *words: str) -> Any:
        command = [sys.executable, "-m", "emdiam", *words, "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        answer = json.loads(done.stdout)
        found.update(paths_of(answer, name))
        return answer

    (folder / "e.txt").write_text("".join(f"{v} {v + 1}\n{v} {(v * 7) % 90}\n" for v in range(90)))
    call("convert", "convert", "e.txt", "e.zarr", "-q")
    call("generate", "generate", "torus", "g.zarr", "--sides", "9x11", "-q")
    call("apply", "apply", "e.zarr", "n.zarr", "--add", "e.txt", "-q")
    call("reorder", "reorder", "e.zarr", "r.zarr", "--order", "degree", "-q")
    call("info", "info", "e.zarr", "--check", "-q")
    for planned in call("plan", "plan", "e.zarr")["methods"]:
        command, method = COMMANDS[planned["kind"]], planned["method"]
        chosen = () if command == "ecc" else ("--method", method)
        call(f"{command} {method}", command, "e.zarr", *chosen, "-q")
        call(f"plan {method}", "plan", "e.zarr", "--method", method)
    call("exact certificate", "exact", "e.zarr", "--certificate", "c.json", "-q")
    call("verify", "verify", "c.json", "e.zarr", "-q")
    call("tradeoff", "tradeoff", "e.zarr", "--masters", "4,8", "--methods", "clusters,sweep", "--seed", "1",
         "--out", "t", "--no-plots", "-q")
    return found


def inventory() -> dict[str, list[str]]:
    """All names, by kind."""
    import emdiam

    formats = first_of("emdiam.formats.FORMATS", "emdiam.graph.formats.FORMATS")
    classes = first_of("emdiam.generators.CLASSES", "emdiam.graph.generate.CLASSES", "emdiam.generate.CLASSES")
    variants = first_of("emdiam.gpu.variants.registry.VARIANTS", "emdiam.gpu.variants.VARIANTS")
    main = first_of("emdiam.cli.main.group", "emdiam.cli.main.cli", "emdiam.cli.main.main")
    with tempfile.TemporaryDirectory() as folder:
        fields = results(Path(folder))
    return {"options": sorted(options_of(main, "emdiam")), "formats": sorted(formats),
            "classes": sorted(f"{name} {' '.join(p.name for p in one.parameters)}" for name, one in classes.items()),
            "variants": sorted(variants), "python": sorted(emdiam.__all__), "fields": sorted(fields)}


def main() -> int:
    """Print, write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(Path.cwd()))
    now = inventory()
    if options.out:
        options.out.write_text(json.dumps(now, indent=1) + "\n")
    if options.against:
        before = json.loads(options.against.read_text())
        gone = [f"gone: {kind}: {name}" for kind in before for name in before[kind] if name not in now.get(kind, [])]
        new = [f"new: {kind}: {name}" for kind in now for name in now[kind] if name not in before.get(kind, [])]
        print("\n".join((*gone, *new, f"{len(gone)} gone, {len(new)} new of {sum(map(len, before.values()))}")))
        return int(bool(gone))
    if not options.out:
        print(json.dumps(now, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
