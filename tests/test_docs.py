"""The documents: every example runs, every command has its page, every link leads somewhere.

A ```console block holds commands after "$ " and what they print, in which "..." stands for
anything, and shares a folder with the blocks before it; a ```python block runs as it is, alone in an empty
folder and in a process of its own, whose files are there for the console blocks after it. All run in the quick suite,
as copies of one process (helpers/copies.py).
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import pytest

from emdiam.cli.main import COMMANDS
from tests.conftest import ROOT
from tests.helpers import copies
from tests.helpers.waiting import PATIENCE

FIRST = ROOT / "README.md"
DOCUMENTS = sorted([FIRST, *(ROOT / "docs").rglob("*.md")])
EVERY_PAGE = sorted({*DOCUMENTS, *ROOT.glob("*.md"),
                     *(ROOT / name for name in ("tests/README.md", "bench/README.md", "paper/pyopensci.md"))})
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
CHECK = doctest.OutputChecker()
# Of a first run on a machine, wherever it comes.
COMPILING = re.compile(r"^emdiam: compiling kernel .* for this machine.*\n", re.MULTILINE)
MOST_WORDS = 55_000


def blocks(document: Path) -> list[tuple[str, str]]:
    """(language, text) of the fenced blocks of a document."""
    return BLOCK.findall(document.read_text(encoding="utf-8"))


def commands(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of a console block; a command may run on after a backslash."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\\n"):
            found[-1] = (found[-1][0] + line, "")
        else:
            assert found, f"output before the first command: {line!r}"
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    """A folder with `emdiam` and `python`, which have the libraries imported."""
    with copies.programs() as folder:
        yield folder


def run_console(block: str, folder: Path, programs: Path) -> None:
    """Run the commands of a console block in `folder` and compare what they print."""
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    for command, expected in commands(block):
        done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "PATH": path})
        printed = COMPILING.sub("", done.stdout)
        assert CHECK.check_output(expected, printed, doctest.ELLIPSIS), f"$ {command}{done.stdout}"
        assert done.returncode == 0, f"$ {command}leaves with {done.returncode}"


def run_python(block: str, folder: Path, programs: Path) -> None:
    """Run a block of Python in `folder`."""
    folder.mkdir()
    done = subprocess.run([programs / "python", "-c", block], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert done.returncode == 0, f"{block}{done.stdout}"


def run_examples(document: Path, folder: Path, programs: Path) -> None:
    """Run the console blocks of a document in one folder, and each block in Python in one of its own."""
    (folder / "session").mkdir()
    for number, (language, text) in enumerate(blocks(document)):
        if language == "console":
            run_console(text, folder / "session", programs)
        elif language == "python":
            run_python(text, folder / f"block-{number}", programs)
            shutil.copytree(folder / f"block-{number}", folder / "session", dirs_exist_ok=True)


def test_python_examples_define_all_that_they_use(tmp_path: Path):
    """None goes on from the one before it."""
    for document in DOCUMENTS:
        for number, (language, text) in enumerate(blocks(document)):
            if language == "python":
                (tmp_path / f"{document.stem}_{number}.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", str(tmp_path)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def with_examples() -> list[Path]:
    """All documents that have something to run."""
    return [path for path in DOCUMENTS if {"console", "python"} & {language for language, _ in blocks(path)}]


@pytest.mark.parametrize("document", with_examples(), ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run(document: Path, tmp_path: Path, programs: Path):
    run_examples(document, tmp_path, programs)


@pytest.mark.parametrize("document", EVERY_PAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path):
    """To a file that is there, and to a heading that it has."""
    links = LINK.findall(FENCED.sub("", document.read_text(encoding="utf-8")))
    local = [(document.parent / target if target else document, anchor)
             for target, anchor in links if "://" not in target]
    assert [target for target, _ in local if not target.exists()] == []
    assert [(target, anchor) for target, anchor in local if anchor and anchor[1:] not in anchors(target)] == []


def anchors(document: Path) -> set[str]:
    """The anchors of the headings of a page, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_the_site_has_a_place_for_every_page():
    """The strict build of the slow tests would say so too."""
    nav = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8").split("nav:\n")[1]
    pages = {str(path.relative_to(ROOT)) for path in EVERY_PAGE}
    assert set(re.findall(r"\S+\.md", nav)) == pages


def test_the_python_reference_has_every_public_name():
    import emdiam

    names = re.findall(r"^::: emdiam\.(\w+)$", (ROOT / "docs" / "python-reference.md").read_text(), re.MULTILINE)
    assert sorted(names) == sorted(set(emdiam.__all__) - {"__version__"})


def test_every_command_has_a_page_with_an_example():
    for name in COMMANDS:
        page = ROOT / "docs" / "commands" / f"{name}.md"
        examples = [text for language, text in blocks(page) if language == "console"]
        assert any(f"emdiam {name} " in text for text in examples), page


def test_every_line_of_the_start_page_is_one_of_emdiam():
    """Commands with options that they have, and functions with keywords that they have."""
    import emdiam
    from emdiam.terms import keywords_of

    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| \[.+\) \| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(lines) > 35
    for line in lines:
        name, *words = shlex.split(line)
        if name == "emdiam":
            command = import_module(f"emdiam.cli.{words[0]}").command
            if isinstance(command, click.Group):
                words = words[1:]
                command = command.get_command(click.Context(command), words[0])
            command.make_context(words[0], words[1:])
        elif function := re.fullmatch(r"emdiam\.(\w+)\((.*)\)", line):
            assert set(re.findall(r"(\w+)=", function[2])) <= set(keywords_of(getattr(emdiam, function[1]))), line


def script(name: str) -> ModuleType:
    """scripts/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_option_and_is_built_with_the_site():
    text = script("make_cli_reference").reference()
    known = {option.opts[-1] for name in COMMANDS
             for option in import_module(f"emdiam.cli.{name}").command.params if isinstance(option, click.Option)}
    assert known <= set(re.findall(r"(?<![\w-])-{1,2}[a-z][a-z-]*", text))
    assert all(f"\n## emdiam {name}\n" in text for name in COMMANDS)
    assert 'make_cli_reference.py "$pages/docs/cli-reference.md"' in (ROOT / "scripts" / "docs").read_text()


def test_what_type_checkers_read_is_what_the_table_says():
    module = script("make_signatures")
    assert module.TARGET.read_text(encoding="utf-8") == module.stub(), "run scripts/make_signatures.py"


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    written = (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")
    assert written == script("draw_rooms").drawing(), "run scripts/draw_rooms.py"


def test_the_readme_fits_one_screen_and_names_both_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert "./scripts/quickstart" in text and "./scripts/test" in text
    assert max(len(line) for _, block in blocks(FIRST) for line in block.splitlines()) <= 75  # else the site crops them


def test_the_site_breaks_paths_in_a_table_and_no_options():
    """In code in cells, and nowhere else."""
    mark = script("table_code").on_page_content
    assert mark("<td>or <code>ecc a-b.zarr --no-x=y -o c</code></td>") == (
        '<td>or <code>ecc a-b.zarr <span class="whole">--no-x</span>=y <span class="whole">-o</span> c</code></td>')
    assert mark("<td><code>a/b/c_d.py s3://e/</code></td>") == "<td><code>a/<wbr>b/<wbr>c_d.py s3://e/</code></td>"
    assert mark("<td>--x</td><p><code>--x</code></p>") == "<td>--x</td><p><code>--x</code></p>"


def test_the_changelog_begins_with_this_version():
    """Beside what is not released yet."""
    import emdiam

    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == emdiam.__version__


def test_texts_are_plain():
    """In documents and in what users see of the package; scripts/phrases.py -v shows the places."""
    assert len(script("phrases").found()) <= 8


def test_docstrings_and_comments_are_plain():
    """Most hits that remain are right where they are, as "none of numpy, numba"; there may only be fewer."""
    assert len(script("phrases").found(inside=True)) <= 154


def test_documents_have_no_more_words():
    """In all of docs/ and the README; where a page grows, another one loses what a reader does not need."""
    assert sum(len(document.read_text(encoding="utf-8").split()) for document in DOCUMENTS) <= MOST_WORDS


def test_a_wrong_example_would_be_noticed(tmp_path: Path, programs: Path):
    run_console("$ echo 7; \\\n  echo 8\n7\n...\n", tmp_path, programs)
    for wrong, said in (("$ echo 8\n9\n", "echo 8"), ("$ exit 3\n", "leaves with 3"),
                        ("$ emdiam exact no.zarr\n...\n", "leaves with 2"),
                        ("$ python -c 'x'\n...\n", "leaves with 1")):
        with pytest.raises(AssertionError, match=said):
            run_console(wrong, tmp_path, programs)
    with pytest.raises(AssertionError, match="NameError"):
        run_python("import emdiam\nprint(nx)\n", tmp_path / "block", programs)


def test_a_program_of_the_examples_has_folder_environment_and_streams_of_its_caller(tmp_path: Path, programs: Path):
    run_console("""$ echo 'a b' > file; A=7 python -c "import os; print(os.environ['A'], open('file').read())" | wc -w
3
$ echo '1 2' | emdiam convert - g.zarr --quiet > made; emdiam --version | cut -d' ' -f1; ls -d *.zarr
emdiam
g.zarr
$ python -c "import os; os.kill(os.getpid(), 9)"; echo $?
137
""", tmp_path, programs)
