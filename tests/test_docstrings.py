"""Docstrings of functions, as help() and editors show them."""

from __future__ import annotations

import doctest
import inspect
import re

import jedi
import pytest

import emdiam
from emdiam.docstrings import documented
from emdiam.runs.options import FUNCTIONS, keywords_of

SECTION = re.compile(r"^(Parameters|Other Parameters|Returns|Raises)\n-+$", re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_has_type_default_and_text(name: str):
    function = getattr(emdiam, name)
    text = inspect.getdoc(function)
    assert text is not None and max(map(len, text.splitlines())) <= 120
    sections = [match[1] for match in SECTION.finditer(text)]
    assert sections == [one for one in ("Parameters", "Other Parameters", "Returns", "Raises") if one in sections]
    assert {"Parameters", "Returns", "Raises"} <= set(sections)
    entries = dict(re.findall(r"^(\w+) : (.+)\n    \S", text, re.MULTILINE))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        said = entries[parameter.name]
        if parameter.default is None:
            assert said.endswith(", optional"), (parameter.name, said)
        elif parameter.default is not inspect.Parameter.empty:
            assert said.endswith(f", default {parameter.default!r}"), (parameter.name, said)
    assert not re.search(r"(?<![\w-])--[a-z]", text), "options of the command line"


@pytest.mark.parametrize("name", ["diameter", "exact", "approximate", "eccentricities", "distances", "shortest_paths",
                                  "all_pairs"])
def test_examples_run(name: str):
    text = getattr(emdiam, name).__doc__
    found = doctest.DocTestParser().get_doctest(text, {"emdiam": emdiam}, name, None, None)
    assert len(found.examples) > 0
    assert doctest.DocTestRunner().run(found).failed == 0


def test_sizes_and_times_have_their_units():
    text = " ".join((emdiam.exact.__doc__ or "").split())
    assert 'In bytes, or as a text such as "4GiB".' in text and 'In seconds, or as a text such as "10min".' in text


def test_an_own_parameter_is_not_said_twice():
    def reorder(store: str, target: str, order: str, **options: object) -> None:
        pass

    reorder.__doc__ = "Do it.\n\n    Returns\n    -------\n    None\n"
    reorder.__doc__ = (reorder.__doc__ or "").replace(
        "    Returns\n", "    Parameters\n    ----------\n    order : str\n        Mine.\n\n    Returns\n")
    text = documented(reorder, str)
    assert text.count("    order : ") == 1 and text.count("Mine.") == 1 and "    seed : int, default 0\n" in text
    assert text.index("Mine.") < text.index("    memory : ") < text.index("Other Parameters") < text.index("Returns")


@pytest.mark.parametrize("name", ["diameter", "eccentricities", "shortest_paths"])
def test_editors_complete_keywords(name: str):
    line = f"emdiam.{name}(graph, "
    found = {one.name for one in jedi.Script(f"import emdiam\n{line}").complete(2, len(line))}
    assert {f"{keyword}=" for keyword in keywords_of(name)} <= found
    [help_] = jedi.Script(f"import emdiam\nemdiam.{name}").help(2, 9)
    assert "Parameters\n----------" in help_.docstring()
