"""What a file that somebody hands in becomes, by the command line and by Python: its graph, or a refusal in one
sentence, and where the remedies of that sentence lead."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import emdiam
from emdiam.cli.convert import command as convert_command
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.errors import InputError


@dataclass(frozen=True)
class Facts:
    """Of a graph: its vertices, its edges, and the largest diameter of a component, in hops along undirected edges."""

    vertices: int
    edges: int
    diameter: int


@dataclass(frozen=True)
class Outcome:
    """facts : what was answered, None where the file was refused. refusal : the sentence. followed : the options of its
    remedies, and what each of them led to."""

    facts: Facts | None
    refusal: str = ""
    followed: tuple[tuple[str, Facts | None], ...] = ()

    def leads_to(self, right: Facts) -> bool:
        """Whether the answer, or that behind one of the remedies, is this one."""
        return self.facts == right or (self.facts is None and right in [facts for _, facts in self.followed])


@dataclass(frozen=True)
class Handed:
    """A file that is handed in. options : of the command line, as text. chosen : what its owner knows and no program
    does: the value of an option whose remedy asks for one, by the name of the option, as encoding or columns."""

    path: Path
    options: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)


def typed(*arguments: str | Path) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command line, run in this process."""
    out, complaints = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(complaints):
        code = run(group, [str(argument) for argument in arguments])
    return code, out.getvalue(), complaints.getvalue()


def by_command(handed: Handed, folder: Path) -> Outcome:
    """What `emdiam convert` and `emdiam exact` make of the file; an AssertionError for a refusal in bad form."""
    facts, sentence = _converted(handed.path, handed.options, folder)
    if facts is not None:
        return Outcome(facts)
    ways = list(remedies(sentence, handed.chosen))
    return Outcome(None, sentence, tuple(
        (" ".join(way), _converted(handed.path, (*handed.options, *way), folder)[0]) for way in ways))


def _converted(path: Path, options: Sequence[str], folder: Path) -> tuple[Facts | None, str]:
    target = folder / "command.zarr"
    shutil.rmtree(target, ignore_errors=True)
    code, out, complaints = typed("convert", path, target, *options, "--threads", 1, "--quiet")
    if code:
        assert code == 2 and not target.exists() and not out, f"{path.name}: exit code {code}, {complaints}"
        return None, one_sentence(complaints)
    code, out, complaints = typed("exact", target, "--json", "--quiet", "--threads", 1)
    assert code == 0, complaints
    answer = json.loads(out)
    return Facts(answer["n_vertices"], answer["n_edges"], answer["diameter_max_component"]), ""


def one_sentence(complaints: str) -> str:
    """The sentence on standard error, without the name of the program. Raises AssertionError for anything else."""
    [line] = complaints.splitlines()
    sentence = line.removeprefix("emdiam: ")
    assert sentence != line and sentence and line.isprintable(), complaints
    assert "Traceback" not in line and "fault of emdiam" not in line, complaints
    return sentence


def by_python(handed: Handed, folder: Path) -> Outcome:
    """What `emdiam.diameter` makes of the file, or of the store that `emdiam.convert` makes with the options of the
    command line as keywords."""
    given = {name.removeprefix("--").replace("-", "_"): value
             for name, value in zip(handed.options[::2], handed.options[1::2], strict=True)}
    facts, sentence = _asked(handed.path, {"convert": given}, folder)
    if facts is not None:
        return Outcome(facts)
    ways = [(home, {**(given if home == "convert" else {}), **way})
            for home, way in keyword_remedies(sentence, handed.chosen, "convert" if given else "diameter")]
    return Outcome(None, sentence, tuple(
        (f"{home}: " + ", ".join(f"{name}={value!r}" for name, value in way.items()),
         _asked(handed.path, {home: way}, folder)[0]) for home, way in ways))


def _asked(path: Path, keywords: Mapping[str, Mapping[str, Any]], folder: Path) -> tuple[Facts | None, str]:
    """keywords : of the functions of emdiam by their names."""
    graph, target = path, folder / "python.zarr"
    shutil.rmtree(target, ignore_errors=True)
    try:
        if keywords.get("convert"):
            emdiam.convert(path, target, threads=1, scratch=folder, **keywords["convert"])
            graph = target
        result = emdiam.diameter(graph, threads=1, scratch=folder, **keywords.get("diameter", {}))
    except InputError as error:
        sentence = str(error)
        assert sentence.isprintable() and not re.search(r"(?<![\w-])--[a-z]", sentence), sentence
        return None, sentence
    return Facts(result.n_vertices, result.n_edges, result.diameter_max_component), ""


def remedies(sentence: str, chosen: Mapping[str, str]) -> Iterator[list[str]]:
    """The options of `emdiam convert` that a sentence names, those in a row together."""
    takes_value = {name: not option.is_flag for option in convert_command.params if isinstance(option, click.Option)
                   for name in option.opts if name.startswith("--")}
    way: list[str] = []
    words = iter(sentence.split())
    for word in words:
        ends = word.endswith((",", ";", ".", ")", ":"))
        name, equals, value = word.strip("(),;:.'\"").partition("=")
        if name not in takes_value:
            if way:
                yield way
            way = []
            continue
        if takes_value[name] and not equals and not ends:
            value = next(words, "")
            ends = value.endswith((",", ";", ".", ")", ":"))
        way += [name, *([_value(name[2:], value.strip("(),;:.'\""), chosen)] if takes_value[name] else [])]
        if ends:
            yield way
            way = []
    if way:
        yield way


def keyword_remedies(sentence: str, chosen: Mapping[str, str], called: str = "diameter"
                     ) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keywords that a sentence of `called` names, each with the function that takes it."""
    for name, text, home in re.findall(
            r"""\b([a-z_]+)=("[^"]*"|'[^']*'|\w+|\.\.\.)(?: of emdiam\.(\w+))?""", sentence):
        value = ast.literal_eval(text) if text[0] in "\"'" or text in ("True", "False") or text.isdigit() else text
        yield home or called, {name: _value(name, value, chosen) if isinstance(value, str) else value}


def _value(name: str, value: str, chosen: Mapping[str, str]) -> str:
    """The value of an option, which may be an example of what its owner knows."""
    return chosen.get(name, value)


INTERFACES: dict[str, Callable[[Handed, Path], Outcome]] = {"command": by_command, "Python": by_python}
