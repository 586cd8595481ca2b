"""Help: quick, complete, and without the library behind it."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from glob import glob
from pathlib import Path

import click
import pytest

from emdiam.cli import short_help
from emdiam.cli.main import COMMANDS, COMPLETE, group, main
from emdiam.cli.outcome import run
from emdiam.cli.process import allow_many_files
from emdiam.generators.make import CLASSES
from emdiam.runs import option
from emdiam.runs import options as table
from tests.conftest import ROOT
from tests.helpers.stores import write_store

HEAVY = ("numpy", "numba", "zarr", "pyarrow", "scipy", "rich", "jinja2", "tabulate", "psutil", "matplotlib")
# Help answers at once, which is importing little: 180 modules with the interpreter's own, with numpy more than 300.
HELP_MODULES = 250


@pytest.mark.parametrize("arguments", [
    ["--help"], ["--version"], ["generate", "--help"], ["generate", "rmat", "--help"],
    *([name, "--help"] for name in COMMANDS),
])
def test_help_imports_no_library(arguments: list[str]):
    code = ("import sys\nfrom emdiam.cli.main import main\n"
            f"try:\n    main({arguments!r})\nexcept SystemExit as leave:\n"
            "    print(leave.code, file=sys.stderr)\n    print(*sys.modules, file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    exit_code, modules = done.stderr.split("\n", 1)
    assert exit_code == "0"
    assert set(modules.split()).isdisjoint(HEAVY)
    assert len(modules.split()) < HELP_MODULES


def test_the_api_alone_loads_no_compiler():
    """A command that runs no kernel, such as info, does not pay for numba."""
    code = "import sys, emdiam.api\nprint('numba' in sys.modules, 'zarr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_until_ctrl_c_is_heeded_next_to_nothing_is_imported():
    """Where the command says what Ctrl-C does, only `signal` and what that needs has been imported (-S: no site)."""
    code = "import sys; before = set(sys.modules); import emdiam.__main__; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()).isdisjoint({"typing", "re", "pathlib", "contextlib", *HEAVY})


def test_all_calls_of_a_command_have_room_in_one_piece_of_memory():
    """Python maps it when the command begins, 8 bytes an entry; deep calls then map nothing."""
    code = """if True:
        from emdiam.__main__ import _ENTRIES, _with_room
        from emdiam.units import system_text

        def mapped():
            return 4096 * int(system_text("/proc/self/statm").split()[0])

        def deep(calls):
            return deep(calls - 1) if calls else mapped()

        def within():
            mapped()  # what the first call allocates is there
            begin = mapped()
            print(begin - before >= 8 * _ENTRIES, deep(200) - begin)

        mapped()
        before = mapped()
        _with_room(within)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True 0\n"


def test_help_names_every_command(emdiam):
    text = emdiam("--help").stdout
    for name in COMMANDS:
        assert re.search(rf"\n  (\S+, )?{name} ", text)


def test_no_command_shows_the_help(emdiam):
    done = emdiam()
    assert done.returncode == 2
    assert "Usage: emdiam" in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [
    ["exacct", "g.zarr"], ["exact"], ["convert", "only-one.txt"], ["plan", "g.zarr", "--memory", "4 apples"],
    ["exact", "g.zarr", "--method", "magic"], ["exact", "g.zarr", "--threads", "0"],
    ["generate", "rmat", "g.zarr"], ["generate", "moebius", "g.zarr"],
    ["generate", "rmat", "g.zarr", "--vertices", "2^10", "--sides", "3x3"],
    ["generate", "path", "g.zarr", "--vertices", "2.5"],
])
def test_usage_errors_leave_with_2_and_name_the_help(emdiam, arguments: list[str]):
    done = emdiam(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("emdiam: ") and done.stderr.count("\n") == 1
    assert "; see emdiam " in done.stderr and done.stderr.endswith(" --help\n")


@pytest.mark.parametrize(("arguments", "suggestion"), [
    (["exacct", "g.zarr"], "(did you mean 'exact'?)"), (["exact", "g.zarr", "--treads", "2"], "(did you mean"),
    (["exact", "g.zarr", "--method", "pivot"], "(did you mean 'pivots'?)"),
    (["approx", "g.zarr", "--method", "cluster"], "(did you mean 'clusters'?)"),
    (["generate", "grd", "g.zarr"], "no such class 'grd' (did you mean 'grid'?)"),
    (["generate", "grid", "g.zarr", "--side", "3x3"], "(did you mean"),
    (["convert", "e.txt", "h.zarr", "--format", "edgelst"], "did you mean 'edgelist'?"),
    (["reorder", "g.zarr", "h.zarr", "--order", "degre"], "(did you mean 'degree'?)"),
    (["tradeoff", "g.zarr", "--out", "t", "--methods", "swep"], "did you mean 'sweep'?"),
])
def test_the_closest_name_is_suggested(
    arguments: list[str], suggestion: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.txt").write_text("0 1\n")
    write_store(tmp_path / "g.zarr", [[1], [0]])
    assert run(group, arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("emdiam: ") and err.count("\n") == 1 and suggestion in err


def helped(*arguments: str) -> list[str]:
    """The lines that a command prints at 80 columns."""
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as out, redirect_stdout(out):
        patch.setenv("COLUMNS", "80")
        assert run(group, [*arguments]) == 0
        return out.getvalue().splitlines()


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *(("generate", name) for name in CLASSES)],
                         ids=" ".join)
def test_help_fits_a_terminal_and_the_whole_is_in_groups(words: tuple[str, ...]):
    short = helped(*words, "--help")
    assert len(short) <= 40 and max(map(len, short)) <= 80
    if words in ((), ("generate",)):
        return
    assert any(line.split("  ")[1] == "--help-all" for line in short if line.startswith("  --"))
    text = "".join(short)
    assert text.count("(") == text.count(")")
    whole = helped(*words, "--help-all")
    assert max(map(len, whole)) <= 80
    known = [f"{title}:" for title in (short_help.ANSWER, *short_help.SECTIONS)]
    titles = [line for line in whole if line.endswith(":") and not line.startswith(" ")]
    assert titles == [title for title in known if title in titles] and titles
    every = {option.opts[-1] for option in class_or_command(*words).params if isinstance(option, click.Option)}
    assert every <= set(re.findall(r"(?<![\w-])-{1,2}[a-z][a-z-]*", " ".join(line[:40] for line in whole)))


def test_another_name_of_a_command_has_its_help():
    for name, first in table.NAMES.items():
        assert helped(name, "--help")[1:] == helped(first, "--help")[1:], name


def test_every_command_has_eight_options_and_two_examples_that_run(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """From first to last, in one folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n3 4\n4 5\n5 1\n1 9\n")
    (tmp_path / "part-1.csv").write_text("source,target,km\n1,2,1.5\n2,3,2\n3,4,0.5\n")
    (tmp_path / "jobs.toml").write_text('[[job]]\nname = "one"\ncommand = "exact"\nstore = "graph.zarr"\n')
    assert tuple(short_help.EXAMPLES) == COMMANDS == tuple(short_help.SHOWN)
    for name in COMMANDS:
        assert len(short_help.SHOWN[name]) <= 8 and len(short_help.EXAMPLES[name]) == 2, name
        for example in short_help.EXAMPLES[name]:
            program, *arguments = shlex.split(example)
            assert program == "emdiam" and arguments[0] == name
            if name == "warmup":  # compiles for minutes where there is no kernel yet: tests/test_warmup.py
                loaded(name).make_context(name, arguments[1:])
                continue
            spread = [path for word in arguments for path in (sorted(glob(word)) or [word])]
            assert run(group, spread) == 0, (example, capsys.readouterr().err)


def test_errors_are_objects_with_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for arguments, place in ((["info", str(tmp_path / "no.zarr")], "no.zarr"), (["exact", "g", "--treads"], None)):
        assert run(group, [*arguments, "--json"]) == 2
        out, err = capsys.readouterr()
        found = json.loads(out)
        assert found["exit_code"] == 2 and err == f"emdiam: {found['error']}\n"
        assert place is None or found["path"].endswith(place)
        assert run(group, arguments) == 2 and capsys.readouterr().out == ""


def test_sections_hold_options_that_there_are():
    known = {parameter.name for name in COMMANDS for parameter in loaded(name).params}
    known |= {parameter.name for name in CLASSES for parameter in class_or_command("generate", name).params}
    assert {name for names in short_help.SECTIONS.values() for name in names} <= known
    for name, shown in short_help.SHOWN.items():
        assert set(shown) <= {*table.COMMANDS[name]}, name


def class_or_command(name: str, kind: str | None = None) -> click.Command:
    """A command, or that of a class of graphs."""
    command = loaded(name)
    if kind is not None:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), kind)
        assert inner is not None
        return inner
    return command


def loaded(name: str) -> click.Command:
    """The command."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command


def test_the_choices_written_out_are_those_of_the_library():
    from emdiam.paths.methods import METHODS as SEARCHES
    from emdiam.paths.pairs.methods import AUTO, METHODS
    from emdiam.report import FORMATS
    from emdiam.store.layout import CODECS
    from emdiam.traverse.core import DIRECTIONS

    assert option.CODECS == CODECS
    assert option.DIRECTIONS == DIRECTIONS
    assert set(option.ALL_PAIRS) == {AUTO, *METHODS}
    assert set(option.SEARCHES) == {AUTO, *SEARCHES}
    assert option.REPORTS == tuple(FORMATS)


def test_malloc_arenas_are_limited_before_the_library_starts():
    """The child's malloc is asked for the number of its arenas after many threads have allocated."""
    code = """
import ctypes, threading
from emdiam.cli.process import settle_malloc
settle_malloc()
def work():
    blocks = [bytearray(100_000) for _ in range(20)]
    gate.wait()
gate = threading.Barrier(16)
threads = [threading.Thread(target=work) for _ in range(16)]
for t in threads: t.start()
for t in threads: t.join()
ctypes.CDLL(None).malloc_stats()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    arenas = [line for line in done.stderr.splitlines() if line.startswith("Arena ")]
    assert 1 <= len(arenas) <= 2


def test_as_many_files_may_be_open_as_the_system_allows():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], 500), before[1]))
        allow_many_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(before[1], 1 << 20), before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_freed_arrays_go_back_to_the_system():
    """Also those that are no larger than one that was freed before, with others behind them."""
    code = """
from emdiam.cli.process import settle_malloc
from emdiam.units import current_rss_bytes
settle_malloc()
large = bytearray(24 << 20)
del large
before = current_rss_bytes()
arrays, others = [], []
for _ in range(16):
    arrays.append(bytearray(b'x') * (3 << 20))
    others.append(bytearray(b'y') * 100_000)
del arrays
print(current_rss_bytes() - before)
"""
    free = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=free)
    assert int(done.stdout) < 8 << 20


@pytest.mark.parametrize(("shell", "line", "offered"), [
    ("bash", "emdiam ex", "plain,exact\n"), ("bash", "emdiam exact --cer", "plain,--certificate\n"),
    ("bash", "emdiam ecc --help-", "plain,--help-all\n"),
    ("bash", "emdiam exact g.zarr --path ", "file,\n"), ("bash", "emdiam exact g.zarr --scratch ", "dir,\n"),
    ("zsh", "emdiam generate regu", "plain\nregular\n"), ("zsh", "emdiam convert e g --format ed", "plain\nedgelist\n"),
    ("fish", "emdiam exact g.zarr --method pi", "plain,pivots\n"),
    ("fish", "emdiam eccen", "plain,eccentricities\tCompute the eccentricity of every vertex"),
    ("zsh", "emdiam --ver", "plain\n--version\n")])
def test_shells_are_offered_completions(
    shell: str, line: str, offered: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
    monkeypatch.setenv(COMPLETE, f"{shell}_complete")
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == 0 and capsys.readouterr().out.startswith(offered)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_be_told_to_ask(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv(COMPLETE, f"{shell}_source")
    with pytest.raises(SystemExit) as left:
        main([])
    out = capsys.readouterr().out
    assert left.value.code == 0 and f"{COMPLETE}={shell}_complete" in out and "Usage" not in out

