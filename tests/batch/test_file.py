"""Jobs files: what they say, and everything that can be wrong with one, told at once."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emdiam.batch import BatchOptions
from emdiam.batch import jobfile as commands
from emdiam.batch.jobfile import JobFile, read_job_file
from emdiam.batch.settings import Job, Problem, expand, find_lines, in_order, link
from emdiam.cli.main import COMMANDS, group
from emdiam.errors import InputError

GENERATE = '[[job]]\nname = "g"\ncommand = "generate"\nclass = "path"\nstore = "g.zarr"\noptions = {vertices = 5}\n'


def read(folder: Path, text: str, **options) -> JobFile:
    """The file with this text."""
    path = folder / "jobs.toml"
    path.write_text(text)
    return read_job_file(path, group, BatchOptions(**options), {"DATA": "/data", "EMPTY": ""})


def told(folder: Path, text: str, **options) -> list[tuple[int | None, str | None, str]]:
    """(line, job, text) of the problems."""
    return [(problem.line, problem.job, problem.text) for problem in read(folder, text, **options).problems]


def job(name: str, **keys: str) -> str:
    """A table [[job]] whose keys are written as they are."""
    return "[[job]]\n" + "".join(f"{key} = {value}\n" for key, value in {"name": f'"{name}"', **keys}.items())


def test_a_file_becomes_command_lines(tmp_path: Path):
    file = read(tmp_path, """
[batch]
memory = "2GiB"
out = "night"
[batch.defaults]
memory = "1GiB"
time_limit = "2h"
options = { threads = 2, seed = 3 }
""" + GENERATE + """
[[job]]
name = "d"
command = "exact"
store = "g.zarr"
method = "fdiam"
time_limit = 90
[job.options]
no-winnow = true
no_chains = false
certificate = "${OUT}/d.cert"

[[job]]
name = "a"
command = "approx"
store = "${DATA}/x.zarr"
memory = "300MB"
options = { masters = ["2^4", "10%"], threads = 1 }
""")
    assert file.problems == []
    assert (file.settings.out, file.settings.memory) == (tmp_path / "night", 2 << 30)
    one, two, three = file.jobs
    assert one.arguments == ("generate", "path", "g.zarr", "--threads=2", "--seed=3", "--vertices=5")
    assert two.arguments == ("exact", "g.zarr", "--method=fdiam", "--threads=2", "--seed=3", "--no-winnow",
                             f"--certificate={tmp_path}/night/d.cert")
    assert three.arguments == ("approx", "/data/x.zarr", "--seed=3", "--masters=2^4,10%", "--threads=1")
    assert (one.needs, two.needs, three.needs) == ((), ("g",), ())
    assert two.writes == (f"{tmp_path}/night/d.cert",)
    assert [(item.memory, item.time_limit) for item in file.jobs] == [
        (1 << 30, 7200.0), (1 << 30, 90.0), (300_000_000, 7200.0)]


def test_the_command_line_overrules_the_file(tmp_path: Path):
    file = read(tmp_path, '[batch]\nmemory = "2GiB"\nparallel = 3\nout = "a"\n' + GENERATE,
                memory_bytes=5, parallel=1, out=tmp_path / "b")
    assert (file.settings.memory, file.settings.parallel, file.settings.out) == (5, 1, tmp_path / "b")
    assert read(tmp_path, GENERATE).settings.out == tmp_path / "jobs.out"


VALID = {"command": '"exact"', "store": '"s.zarr"'}


@pytest.mark.parametrize("text, line, name, words", [
    ("", None, None, "there is no job"),
    ("[jobs]\n" + GENERATE, None, None, "no table or key 'jobs'"),
    ("[batch]\nmemroy = 1\n" + GENERATE, 2, None, "no key 'memroy'; known are memory"),
    ('[batch]\nmemory = "4 apples"\n' + GENERATE, 2, None, "memory: not a size"),
    ("[batch]\nparallel = 0\n" + GENERATE, 2, None, "parallel is not a number"),
    ("[batch]\nparallel = 2\n" + GENERATE, 2, None, "give memory"),
    ("[batch.defaults]\ntime = 3\n" + GENERATE, 2, None, "no default 'time'"),
    ("[batch.defaults]\noptions = {thread = 2}\n" + GENERATE, 2, None, "no job has an option 'thread'"),
    ("[[job]]\ncommand = \"exact\"\n", 1, None, "no name"),
    (job("a/b", **VALID), 2, None, "'a/b' cannot be the name"),
    (job("a", **VALID) + job("a", **VALID), 6, None, "two jobs 'a', the first on line 1"),
    (job("a"), 1, "a", "no command; choose from: convert"),
    (job("a", command='"batch"'), 3, "a", "no command 'batch'"),
    (job("a", command='"exact"'), 1, "a", "it has no store"),
    (job("a", command='"exact"', store="3"), 4, "a", "store is not a name"),
    (job("a", **VALID, sotre='"x"'), 5, "a", "a job of exact has no key 'sotre'"),
    (job("a", **VALID, target='"x"'), 5, "a", "no key 'target'; known are name"),
    (job("a", **VALID, weighted="true"), 5, "a", "no key 'weighted'; write options = { weighted = ... }"),
    (job("a", **VALID, bounds_only="true"), 5, "a", "no key 'bounds_only'; write options = { bounds_only = ... }"),
    (job("a", **VALID, method='"magic"'), 5, "a", "'magic' is not one of 'pivots'"),
    (job("a", **VALID, options="{mehtod = 1}"), 5, "a", "no such option"),
    (job("a", **VALID, options="{gap = -1}"), 5, "a", "-1 is not in the range"),
    (job("a", **VALID, options='{threads = "two"}'), 5, "a", "'two' is not a valid integer"),
    (job("a", **VALID, options="{memory = 1}"), 5, "a", "memory is a key of the job itself"),
    (job("a", **VALID, options="{json = true}"), 5, "a", "the batch gives json itself"),
    (job("a", **VALID, options="{bounds-only = 1}"), 5, "a", "is a flag"),
    (job("a", **VALID, options="{gap = true}"), 5, "a", "gap needs a value, not true"),
    (job("a", **VALID, options="{gap = {a = 1}}"), 5, "a", "needs a text"),
    (job("a", **VALID, options="7"), 5, "a", "options is not a table"),
    (job("a", **VALID, time_limit='"soon"'), 5, "a", "time_limit: not a duration"),
    (job("a", **VALID, memory="true"), 5, "a", "memory: not a text or number"),
    ('[batch]\nmemory = "1GiB"\n' + job("a", **VALID, memory='"2GiB"'), 7, "a",
     "its memory, 2.0 GiB, is more than the 1.0 GiB of the whole batch"),
    (job("a", **VALID, needs='["b"]'), 1, "a", "it needs 'b', and there is no such job"),
    (job("a", **VALID, needs='"b"'), 5, "a", "needs is not a list"),
    (job("a", **VALID, needs='["a"]'), 1, "a", "in a circle: a needs a"),
    (job("a", command='"exact"', store='"${NOWHERE}/x"'), 1, "a", "the variable NOWHERE is not set"),
    (job("a", command='"generate"', store='"x"'), 1, "a", "it has no class"),
    (job("a", command='"generate"', store='"x"', **{"class": '"moebius"'}), 5, "a", "no class 'moebius'"),
    (job("a", command='"generate"', store='"x"', **{"class": '"rmat"'}), 1, "a", "missing option 'vertices'"),
    (job("a", command='"reorder"', store='"x"', target='"y"'), 1, "a", "missing option 'order'"),
    (job("a", command='"convert"', inputs='["-"]', store='"y"'), 4, "a", "no standard input"),
    (job("a", command='"convert"', inputs="[]", store='"y"'), 4, "a", "inputs is not a list of names"),
    (GENERATE + GENERATE.replace('"g"', '"h"'), 7, "h", "job g writes"),
])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, line, name, words: str):
    problems = told(tmp_path, text)
    assert len(problems) == 1, problems
    assert problems[0][:2] == (line, name)
    assert words in problems[0][2]


def test_everything_is_told_at_once(tmp_path: Path):
    problems = told(tmp_path, "[batch]\nfoo = 1\n" + job("a", **VALID, options="{gap = -1, threads = 0, x = 1}")
                    + job("b", command='"reorder"', store='"x"', needs='["z"]') + job("c", command='"nothing"'))
    assert [(line, name) for line, name, _ in problems] == [
        (2, None), (7, "a"), (7, "a"), (7, "a"), (8, "b"), (8, "b"), (8, "b"), (15, "c")]


def test_a_circle_is_told_for_each_of_its_jobs(tmp_path: Path):
    text = "".join(job(name, command='"exact"', store=f'"{name}.zarr"', needs=f'["{need}"]')
                   for name, need in ("ab", "bc", "ca", "da"))
    file = read(tmp_path, text)
    assert [problem.job for problem in file.problems] == ["a", "b", "c"]
    assert all("in a circle: " in problem.text for problem in file.problems)
    assert [item.needs for item in file.jobs] == [(), (), (), ("a",)]


@pytest.mark.parametrize("text, words", [("[[job]\n", "line 1"), ("a = 1\na = 2\n", "line 2"), ("x = \"", "no TOML")])
def test_what_is_no_toml_is_refused_with_its_line(tmp_path: Path, text: str, words: str):
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_job_file(tmp_path / "none.toml", group, BatchOptions())
    (tmp_path / "jobs.toml").write_bytes(b"a = '\xff'\n")
    with pytest.raises(InputError, match="byte 5: a jobs file is UTF-8"):
        read_job_file(tmp_path / "jobs.toml", group, BatchOptions())


def test_variables():
    missing: set[str] = set()
    value = {"a": ["${X}/${Y:-why}", 3], "b": "${E:-not empty}${E}${NONE}"}
    assert expand(value, {"X": "ex", "E": ""}, missing) == {"a": ["ex/why", 3], "b": "not empty${NONE}"}
    assert missing == {"NONE"}


def test_lines_of_other_ways_to_write_toml():
    lines = find_lines('[batch] # first\nout = """\nname = 1\n"""\n[[ job ]]\n"name" = "a"\noptions.gap = 1\n'
                       "[job.options]\nk = [\n 'x = 1',\n]\n")
    assert (lines.batch.header, lines.batch.keys) == (1, {"out": 2})
    assert [(item.header, item.keys) for item in lines.jobs] == [
        (5, {"name": 6, "options.gap": 7, "options.k": 9})]
    assert [item.of() for item in find_lines("job = [{name = 'a'}]").of_jobs(1)] == [None]


def test_what_is_written_down_of_commands_is_there():
    """The tables of files and of options that the batch gives name parameters of the commands."""
    for name in commands.WORK:
        found = commands.find_command(group, name, "path" if name == "generate" else None)
        assert found is not None
        command = found[1]
        known = {*commands.argument_names(command),
                 *(option[2:] for parameter in command.params for option in parameter.opts if option[:2] == "--")}
        assert known >= {*commands.READS.get(name, ()), *commands.WRITES.get(name, ()), "json"}
        assert commands.takes(command, "force") == (name in ("convert", "generate", "apply", "reorder", "apsp"))


def test_weights_are_kept_with_and_without_a_name(tmp_path: Path):
    for value, word in (("true", "--weights"), ('"km"', "--weights=km")):
        text = job("a", command='"convert"', inputs='["a.csv"]', store='"a.zarr"', options=f"{{weights = {value}}}")
        (one,) = read(tmp_path, text).jobs
        assert one.arguments[-1] == word and told(tmp_path, text) == []


def test_no_positional_argument_passes_for_an_option(tmp_path: Path):
    (one,) = read(tmp_path, job("a", command='"exact"', store='"--json"')).jobs
    assert one.arguments == ("exact", "./--json")


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=10))
def test_jobs_come_after_those_they_need(needs: list[list[int]]):
    """Against a plain search for circles: a job is at fault if and only if it needs itself in the end."""
    names = [str(number) for number in range(len(needs))]
    jobs = [Job(name, "exact", (), needs=tuple(str(need) for need in own if need < len(needs)))
            for name, own in zip(names, needs, strict=True)]
    problems: list[Problem] = []
    order = in_order(link(jobs, problems))
    place = {item.name: number for number, item in enumerate(order)}
    assert sorted(place) == sorted(names)
    assert all(place[need] < place[item.name] for item in order for need in item.needs)

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        front = [start]
        while front:
            for need in jobs[int(front.pop())].needs:
                if need not in found:
                    found.add(need)
                    front.append(need)
        return found

    in_circles = {name for name in names if name in reached(name)}
    at_fault = {problem.job for problem in problems}
    assert at_fault <= in_circles and bool(at_fault) == bool(in_circles)


def test_a_command_that_is_no_group_has_no_kinds():
    @click.group()
    def other() -> None:
        """None."""

    assert commands.find_command(other, "exact", None) is None


def needs_of(folder: Path, *tables: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """What each job needs, and what it comes after."""
    file = read(folder, "".join(tables))
    assert file.problems == []
    return {one.name: (one.needs, one.after) for one in file.jobs}


def test_every_command_is_one_for_a_job():
    assert sorted([*commands.WORK, "batch"]) == sorted(COMMANDS)


def test_needs_are_found_by_paths(tmp_path: Path):
    """A job needs those that make what it reads: the file itself, by another name, in a folder that they make, or of a
    pattern; and what they have answered."""
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    store = 'store = "data/g.zarr"'
    found = needs_of(
        tmp_path, GENERATE.replace("g.zarr", "link/g.zarr"),
        job("e", command='"ecc"', store='"data/../data/g.zarr"', options='{out = "tables/e.csv"}'),
        job("d", command='"distances"', store='"data/g.zarr"', options='{out = "tables/d.csv"}'),
        job("c", command='"convert"', inputs='["tables/*.csv"]', store='"c.zarr"'),
        job("one", command='"convert"', inputs='["tables/d.csv"]', store='"one.zarr"'),
        f'[[job]]\nname = "x"\ncommand = "exact"\n{store}\noptions = {{certificate = "x.cert"}}\n',
        f'[[job]]\nname = "v"\ncommand = "verify"\n{store}\ncertificate = "x.cert"\n',
        f'[[job]]\nname = "t"\ncommand = "tradeoff"\n{store}\n',
        job("rt", command='"report"', sources='["${OUT}/jobs/t/tradeoff", "${OUT}/jobs/x/answer.json"]',
            options='{out = "t.html"}'))
    assert {name: needs for name, (needs, _) in found.items()} == {
        "g": (), "e": ("g",), "d": ("g",), "c": ("e", "d"), "one": ("d",), "x": ("g",), "v": ("x", "g"), "t": ("g",),
        "rt": ("t", "x")}


def test_a_job_that_reads_the_results_comes_after_all_others(tmp_path: Path):
    page = job("page", command='"report"', sources='["${OUT}"]')
    lines = job("lines", command='"report"', sources='["${OUT}/results.jsonl"]', options='{format = "md"}')
    file = read(tmp_path, page + GENERATE + job("x", command='"exact"', store='"g.zarr"') + lines)
    assert file.problems == []
    assert [one.after for one in file.jobs] == [("g", "x"), (), (), ("g", "x")]
    assert [one.name for one in in_order(file.jobs)] == ["g", "x", "page", "lines"]
    assert [one.writes for one in file.jobs if one.command == "report"] == [
        (f"{tmp_path}/jobs.out/report.html",), (f"{tmp_path}/jobs.out/report.md",)]
