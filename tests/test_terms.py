"""Errors speak of options on the command line, and of keywords in Python."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import networkx as nx
import pandas as pd
import pytest

import emdiam
from emdiam import api
from emdiam.cli.main import COMMANDS, group
from emdiam.cli.outcome import homes, options_of
from emdiam.terms import FUNCTIONS, in_keys, in_keywords, in_options, keyword_terms, keywords_of, keywords_of_all
from emdiam.units import parse_size
from tests.conftest import Run
from tests.helpers.source import nodes_of

PACKAGE = Path(emdiam.__file__).parent
# Rooms whose texts Python never gets as an error.
ELSEWHERE = ("cli", "batch", "tradeoff", "gpu/kernels", "runs/options.py", "runs/option.py")
# Options that only commands have.
OF_COMMANDS = {"--json", "--events", "--check"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def text_of(node: ast.AST) -> str | None:
    """A text of a program, with 7 for what it fills in; None for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return None if left is None or right is None else left + right
    return None


def texts(path: Path) -> Iterator[str]:
    """The texts of a file that are no documentation."""
    seen = {node.value for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if node not in seen and (text := text_of(node)) is not None:
            seen |= set(ast.walk(node))
            yield text


@cache
def messages() -> list[tuple[str, str]]:
    """(module, text) of what has an option in it, and is more than that."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        if not module.startswith(ELSEWHERE):
            found += [(module, text) for text in texts(path)
                      if OPTION.search(text) and " " in text]
    return found


@cache
def options() -> set[str]:
    """The options of all commands, but for those that only commands have."""
    commands = [import_module(f"emdiam.cli.{name}").command for name in COMMANDS]
    commands += [command for group in commands if isinstance(group, click.Group)
                 for name in group.list_commands(click.Context(group))
                 if (command := group.get_command(click.Context(group), name)) is not None]
    return {option for command in commands for parameter in command.params for option in parameter.opts} - OF_COMMANDS


def test_there_are_many_messages():
    assert len(messages()) > 100 and len(options()) > 60


@pytest.mark.parametrize("function", ["", *FUNCTIONS.values()])
def test_no_message_in_python_has_an_option(function: str):
    """And each keyword in its place is one of the function, or says of which function it is."""
    known = keywords_of(getattr(api, function)) if function else None
    for module, message in messages():
        said = in_keywords(message, function, known)
        assert not options() & set(OPTION.findall(said)), (module, said)
        for home, given in re.findall(r"emdiam\.(\w+)\(([^)]*)\)", said):
            assert set(re.findall(r"(\w+)=", given)) <= keywords_of(getattr(api, home)), (module, said)
        rest = re.sub(r"emdiam\.\w+\([^)]*\)", "", said)
        for name, value, home in re.findall(r'\b([a-z_]+)=("[^"]*"|[\w.(=]+\)?)?(?: of emdiam\.(\w+))?', rest):
            taken = keywords_of(getattr(api, home)) if home else known if function else keywords_of_all()
            assert taken is not None and name in taken, (module, said)
            assert not value.startswith('"') or value.endswith('"'), said


@pytest.mark.parametrize(("message", "said"), [
    ("choose another name or use --force", "choose another name or use force=True"),
    ("give at least --memory 300MiB", 'give at least memory="300MiB"'),
    ("--arena 3.0 MiB is too small", 'arena="3.0 MiB" is too small'),
    ("give --workers N, or --scheduler ADDRESS", "give workers=N, or scheduler=ADDRESS"),
    ("leave --no-batches out", "leave batches=False out"),
    ("leave --radius and --center out", 'leave what="radius" and what="center" out'),
    ("use --method auto, or leave --method out", 'use method="auto", or leave method= out'),
    ("give at most --threads 4", "give at most threads=4"),
    ("make one with: emdiam exact STORE --certificate FILE", "make one with: emdiam.exact(STORE, certificate=FILE)"),
    ("make one with: emdiam convert edges.txt 'my graph.zarr'",
     "make one with: emdiam.convert('edges.txt', 'my graph.zarr')"),
    ("use emdiam ecc for all eccentricities", "use emdiam.eccentricities for all eccentricities"),
    ("the same command with --resume goes on", "the same call with resume=True goes on"),
    ("keep its --events FILE, see emdiam info --check", "keep its --events FILE, see emdiam info --check"),
    ("the file a--force.txt is no graph", "the file a--force.txt is no graph"),
])
def test_options_become_keywords(message: str, said: str):
    assert in_keywords(message) == in_keywords(said) == said


@pytest.mark.parametrize(("message", "said"), [
    ("leave --weighted out", "leave weighted = true out"),
    ("give at least --memory 300MiB", 'give at least memory = "300MiB"'),
    ("give at most --threads 4, or leave --no-batches out", "give at most threads = 4, or leave no-batches out"),
    ("missing option '--vertices'", "missing option 'vertices'"),
    ("no method x; choose --method pivots or --certificate FILE",
     'no method x; choose method = "pivots" or certificate = FILE'),
    ("make one with: emdiam exact STORE --certificate FILE; or use --force",
     "make one with: emdiam exact STORE --certificate FILE; or use force = true"),
    ("no columns of weights; give --weights alone", "no columns of weights; give weights = true alone"),
])
def test_options_become_keys_of_a_jobs_file(message: str, said: str):
    assert in_keys(message) == in_keys(said) == said


def test_ends_are_one_text(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("emdiam.terms.keywords_of_all", lambda: {"columns": "convert"})
    for ends in ("1,3", "u,v", "SRC,DST", ":START_ID,:END_ID"):
        assert in_keywords(f"name both, as in --columns {ends}; or not") == f'name both, as in columns="{ends}"; or not'
    assert in_keywords("leave out --columns") == "leave out columns="


def test_a_remedy_of_another_function_names_it():
    known = keywords_of(api.diameter)
    assert in_keywords("use --ids string", "diameter", known) == 'use ids="string" of emdiam.convert'
    assert in_keywords("leave out --weights", "exact", keywords_of(api.exact)) == "leave out weighted=True"
    said = in_keywords("leave --weighted out, or convert the graph with --weights", "exact", keywords_of(api.exact))
    assert said == "leave weighted=True out, or convert the graph with weights=True of emdiam.convert"
    assert in_keywords("use --directed", "eccentricities", keywords_of(api.eccentricities)) == 'use directed="out"'


def test_sizes_in_remedies_are_sizes():
    said = in_keywords("--memory 20.0 MiB is too small")
    assert parse_size(re.findall('"([^"]+)"', said)[0]) == 20 << 20


def failed(function: Any, *arguments: Any, **given: Any) -> str:
    """The message of the error that a call ends in."""
    with pytest.raises(emdiam.EmdiamError) as caught:
        function(*arguments, **given)
    remedy = getattr(caught.value, "remedy", None)
    assert remedy is None or remedy in str(caught.value)
    return str(caught.value)


def test_remedies_in_python_work(tmp_path: Path, command: Run):
    """Each remedy is followed."""
    edges, store = tmp_path / "e.txt", tmp_path / "g.zarr"
    edges.write_text("1 2\n2 3\n")
    emdiam.convert(edges, store)
    assert "use force=True" in failed(emdiam.convert, edges, store)
    emdiam.convert(edges, store, force=True)
    names = pd.DataFrame({"source": ["1", "x"], "target": ["x", "y"]})
    assert "--" not in failed(emdiam.convert, [("a", 1)], store)
    mixed = tmp_path / "m.txt"
    mixed.write_text("1 2\n2 x\n")
    said = failed(emdiam.convert, mixed, store, force=True)
    assert 'ids="string"' in said and "--" not in said
    assert emdiam.convert(mixed, store, force=True, ids="string").record.n_vertices == 3
    assert 'ids="string" of emdiam.convert' in failed(emdiam.diameter, mixed)
    assert "memory=" in failed(emdiam.diameter, store, memory="20MiB")
    assert "memory=" in str(emdiam.plan(store, memory="20MiB", probe=None)[0].refused)
    assert f"emdiam.convert('{edges}', 'e.zarr')" in failed(emdiam.open, edges)
    assert emdiam.diameter(names).diameter == 2
    for arguments in (("convert", mixed, "x.zarr"), ("exact", "g.zarr", "--memory", "20MiB")):
        done = command(*arguments)
        assert done.returncode == 2 and "--" in done.stderr and "=" not in done.stderr.replace(" = ", "")


def test_a_store_as_a_graph_of_networkx_speaks_of_keywords(tmp_path: Path):
    import emdiam.networkx

    emdiam.convert(nx.path_graph(4), tmp_path / "g.zarr")
    with emdiam.networkx.Graph(tmp_path / "g.zarr", memory="20MiB") as graph:
        said = failed(nx.single_source_shortest_path_length, graph, 0)
        assert "memory=" in said and "--" not in said


def test_functions_are_the_same_each_time_and_can_be_pickled():
    for name in FUNCTIONS.values():
        function = getattr(emdiam, name)
        assert function is getattr(emdiam, name) is pickle.loads(pickle.dumps(function))
        assert inspect.signature(function) == inspect.signature(getattr(api, name)) and function.__doc__


def test_errors_keep_their_kind_and_what_they_hold():
    with pytest.raises(emdiam.BudgetError) as caught, keyword_terms():
        raise emdiam.BudgetError("--memory 1 MiB is too small", remedy="give at least --memory 2MiB")
    assert str(caught.value) == 'memory="1 MiB" is too small; give at least memory="2MiB"'
    assert caught.value.remedy == 'give at least memory="2MiB"'
    with pytest.raises(emdiam.StoppedEarly) as stopped, keyword_terms():
        raise emdiam.StoppedEarly("stopped; the same command with --resume goes on", {"lower": 1})
    assert stopped.value.result == {"lower": 1} and "resume=True" in str(stopped.value)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_message_on_a_command_line_has_an_option_of_another_command_without_its_name(name: str):
    """And an option in its place is one of the command that is named."""
    own, known = options_of(import_module(f"emdiam.cli.{name}").command), homes(group)
    assert len(known) > 100 and known.keys() >= own
    for module, message in messages():
        said = in_options(message, name, own, known)
        assert in_options(said, name, own, known) == said, (module, said)
        of_others = r"(--[a-z][a-z-]*[a-z])(?:[= ](?!--|and |or |of )[^\s;]+){0,2} of emdiam ([a-z]+)"
        for option, home in re.findall(of_others, said):
            assert option in options_of(import_module(f"emdiam.cli.{home}").command), (module, said)
        rest = re.sub(r"\bemdiam [a-z]+\b[^;,]*|\bconvert [^;:]*", "", re.sub(of_others, "", said))
        assert set(OPTION.findall(rest)) & known.keys() <= own, (module, said)


@pytest.mark.parametrize(("command", "message", "said"), [
    ("exact", "keep such ids as names with --ids string; or not", "keep such ids as names with --ids string of emdiam"
     " convert; or not"),
    ("exact", "give at least --memory 300MiB", "give at least --memory 300MiB"),
    ("verify", "fix the line, or leave out --weights", "fix the line"),
    ("convert", "fix the line, or leave out --weights", "fix the line, or leave out --weights"),
    ("sssp", "leave --weighted out, or convert the graph with --weights", "leave --weighted out, or convert the graph"
     " with --weights"),
    ("exact", "weights are from 0 up, or allow others with --allow-negative", "weights are from 0 up"),
    ("verify", "give --gap 2 and go on", "give --gap 2 of emdiam exact and go on"),
    ("info", "make one with: emdiam exact STORE --certificate FILE", "make one with: emdiam exact STORE --certificate"
     " FILE"),
])
def test_options_of_other_commands_say_of_which(command: str, message: str, said: str):
    own = options_of(import_module(f"emdiam.cli.{command}").command)
    assert in_options(message, command, own, homes(group)) == said


def test_remedies_on_a_command_line_work(tmp_path: Path, command: Run):
    """In the sentence and in the object of --json."""
    (tmp_path / "e.csv").write_text("u,v,km\n1,2,x\n2,3,1\n")
    (tmp_path / "w.csv").write_text("u,v,km\n1,2,1\n2,3,1\n")
    assert command("exact", "w.csv", "--weighted", "--certificate", "c.json", "-q").returncode == 0
    done = command("verify", "c.json", "e.csv", "-q")
    assert done.returncode == 2 and "fix the record\n" in done.stderr and "--weight" not in done.stderr
    assert command("convert", "w.csv", "g.zarr", "--weights", "-q").returncode == 0
    said = json.loads(command("exact", "e.csv", "--weighted", "--json", "-q").stdout)
    assert said["remedy"].endswith("or leave out --weighted") and said["remedy"] in said["error"]
    (tmp_path / "n.csv").write_text("u,v\n1,2\n2,x\n")
    said = json.loads(command("exact", "n.csv", "--json", "-q").stdout)
    assert said["remedy"] in said["error"] and said["remedy"].endswith("emdiam convert n.csv n.zarr --ids string")
