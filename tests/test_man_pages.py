"""Pages of `man`: made of the tables of the command line, whole, and rendered where groff is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from emdiam.cli.main import COMMANDS, group
from tests.test_docs import script

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return script("make_man_pages").pages()


def test_every_command_has_a_page_with_all_its_options(pages: dict[str, str]):
    assert set(pages) == {"emdiam.1", *(f"emdiam-{name}.1" for name in COMMANDS)}
    for name in COMMANDS:
        text = pages[f"emdiam-{name}.1"]
        assert re.findall(r"^\.SH (.+)$", text, re.MULTILINE) == SECTIONS
        command = group.get_command(click.Context(group), name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[-1].replace("-", "\\-") in text, (name, option.name)
    assert all(f".BR emdiam\\-{name} (1)" in pages["emdiam.1"] for name in COMMANDS)


def test_no_text_is_a_command_of_roff(pages: dict[str, str]):
    module = script("make_man_pages")
    assert module.escaped(".B x\n'y \\ -") == "\\&.B x\n\\&'y \\e \\-"
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BR", ".EX", ".EE", ".nh", ".ad"}
    lines = [line for text in pages.values() for line in text.splitlines() if line.startswith((".", "'"))]
    assert {line.split()[0] for line in lines} == known


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_they_render(tmp_path: Path):
    """Some of them: all have the same parts."""
    files = {path.stem.removesuffix(".1"): path for path in script("make_man_pages").write_pages(tmp_path)}
    for name in ("emdiam", "emdiam-exact", "emdiam-generate"):
        done = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-rLL=78n", files[name]], capture_output=True,
                              text=True)
        plain = re.sub(".\b", "", done.stdout)
        assert done.returncode == 0 and "error" not in done.stderr
        assert not re.search(r"[a-z]-$|adjust", plain + done.stderr, re.MULTILINE), "a word is cut"
        assert name.upper() + "(1)" in plain and "EXIT STATUS" in plain and len(plain.splitlines()) > 60
