"""Errors in the terms of the interface that was used.

Messages are written in the terms of the command line: options (`--force`, `--ids string`) and commands (`emdiam exact
STORE --certificate FILE`). For callers in Python, this module replaces them with keywords (`force=True`,
`ids="string"`) and functions. It knows the keywords of each function: if a remedy needs another function's keyword, the
message names that function. In a jobs file options are keys (`force = true`, `ids = "string"`), and on a command line
the message names the command of an option that only other commands have. The module also gives functions signatures
that list their keywords.
"""

from __future__ import annotations

import functools
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from .docstrings import documented
from .errors import EmdiamError, InputError
from .runs.option import FLAG
from .runs.options import FUNCTIONS as KEYWORDS
from .runs.options import keywords_of as keywords_in_table

_F = TypeVar("_F", bound=Callable[..., Any])
# Functions by their commands.
FUNCTIONS = {command: function for function, (command, _) in KEYWORDS.items()
             if function not in ("diameter", "profile")}
# Options without a value.
_FLAGS = frozenset(name for function in KEYWORDS for name, option in keywords_in_table(function).items()
                   if option.kind == FLAG) | {"allow_negative", "euler"}
# Options whose value is the next word, unless that word continues the sentence.
_NAMED = frozenset({"bfs", "codec", "device", "direction", "encoding", "format", "header", "ids", "mapping", "method",
                    "order", "reorder", "sep", "start", "vertex_state", "weight"})
_GOES_ON = frozenset({"alone", "and", "another", "are", "as", "for", "goes", "if", "in", "is", "of", "or", "out",
                      "shows", "takes", "that", "there", "to", "where", "which", "with"})
# Commands that do not read a graph for a run.
_WRITERS = ("convert", "apply", "reorder", "generate")
# Options with another name in Python.
_RENAMED = {"radius": 'what="radius"', "center": 'what="center"', "sources": "k=",
            "allow_negative": "weights=WeightChoice(negative=True)", "from": "from_proof="}
# Options that have other values in some functions.
_OF_FUNCTION = {("eccentricities", "directed"): 'directed="out"'}

_OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z][a-z0-9-]*[a-z0-9])"
                     r"(?:=(?P<given>[^\s,;:)'\"]+)|(?<=--columns) (?P<ends>[^\s;,]+,[^\s;,]+)"
                     r"| (?P<metavar>[A-Z]+(?:,[A-Z]+)*)(?!\w)"
                     r"| (?P<number>\d[\d,.]*\d(?: ?[KMGT]?i?B)?|\d(?: ?[KMGT]?i?B)?)(?!\w)"
                     r"| (?P<word>[a-z0-9][\w+-]*))?")
_FILE, _STORE = r"(?:'[^']+'|[^\s']+)", r"(?:'[^']+\.zarr'|[^\s']+\.zarr)"
_COMMAND = re.compile(rf"\bemdiam (?P<command>{'|'.join(FUNCTIONS)})\b(?P<places> {_FILE} {_STORE}|(?: [A-Z]+\b)*)"
                      r"(?P<options>(?: --[a-z-]+(?: (?:[A-Z]+|natural)\b)?)*)")
_COMMANDS = re.compile(r"(\bemdiam [a-z]+\b[^;,]*)")
# Remedies that do not apply to a run: negative weights are for stores that searches read, and an option that the
# command does not have cannot be left out.
_ALLOWED = ", or allow others with --allow-negative"
_LEFT_OUT = re.compile(r"(,? or )?leave (?:out (--[a-z-]+[a-z])|(--[a-z-]+[a-z]) out)(?![\w-])(, or )?")
_SEARCHES = ("convert", "generate", "sssp", "apsp")
# The options of a method, which the running command may lack.
_LISTED = re.compile(r"; its own are: ((?:--[a-z-]+(?:, )?)+)$")
# A column of weights, as convert names it.
_COLUMN = re.compile(r"(?<![\w-])--weights=")
# The place of a temporary store in an error.
TEMPORARY = re.compile(r"\S*/emdiam-[^/\s]+/graph\.zarr|a graph in memory(?=:|$)")
# Follows a remedy: the command that has the option, see cli/inputs.py.
CONVERT_FIRST = "convert the file first"


def in_keywords(text: str, function: str = "", known: Collection[str] | None = None) -> str:
    """A message in the terms of Python.

    Parameters
    ----------
    text : a message in the terms of the command line.
    function : the called function; "": another one.
    known : its keywords; None: any.

    Returns
    -------
    The message, with keywords and functions in place of options and commands. Options that no function has are
    unchanged.
    """
    if known is not None and "weights" not in known:
        text = text.replace(_ALLOWED, "")
    text = TEMPORARY.sub("this graph", _COMMAND.sub(_call, text)).replace("the same command with", "the same call with")
    return _OPTION.sub(lambda match: _keyword(match, function, known), text)


def in_keys(text: str) -> str:
    """A message in the terms of a jobs file: keys in place of options. Commands are unchanged, as they are not part of
    a job."""
    return "".join(part if i % 2 else _OPTION.sub(_key, part) for i, part in enumerate(_COMMANDS.split(text)))


def in_options(text: str, command: str, own: Collection[str], homes: Mapping[str, str]) -> str:
    """A message in the options of a command: an option of another command is followed by that command's name.

    Parameters
    ----------
    text : a message in the terms of the command line.
    command : the name of the command.
    own : its options.
    homes : for each option, the name of a command that has it.
    """
    if command not in _SEARCHES:
        text = text.replace(_ALLOWED, "")
    text = _LEFT_OUT.sub(lambda match: match[0] if (match[2] or match[3]) in own or not (match[1] or match[4]) else
                         (match[4] or "") if match[1] else "", text)
    if any(one not in own for listed in _LISTED.findall(text) for one in listed.split(", ")):
        text = _LISTED.sub("", text)
    if "--weight" in own and "--weights" not in own:
        text = _COLUMN.sub("--weight=", text)
    if CONVERT_FIRST in text:
        return text

    within = [range(*named.span()) for named in _COMMANDS.finditer(text)]

    def said(match: re.Match[str]) -> str:
        option, (_, rest) = f"--{match['name']}", _value(match)
        home, end = None if option in own else homes.get(option), match.end() - len(rest)
        if (home is None or any(match.start() in one for one in within) or text[end:].startswith(" of emdiam ")
                or (home == "convert" and re.search(r"\bconvert [^;:]*$", text[:match.start()]))):
            return match[0]
        return f"{text[match.start():end]} of emdiam {home}{rest}"

    return _OPTION.sub(said, text)


def options_in(text: str) -> list[str]:
    """The options in a message, with their values."""
    return [match[0].removesuffix(_value(match)[1]) for match in _OPTION.finditer(text)]


def reword(error: EmdiamError, words: Callable[[str], str]) -> None:
    """Rewrite an error's message, and the fault and remedy of an InputError, in other terms."""
    error.args = (words(str(error.args[0])), *error.args[1:]) if error.args else ()
    if isinstance(error, InputError):
        error.what = words(error.what)
        error.remedy = None if error.remedy is None else words(error.remedy)


def _key(match: re.Match[str]) -> str:
    """A key of a jobs file in place of an option."""
    value, rest = _value(match)
    if value is None and _is_flag(match) and match.string[match.end():][:1] != "'":
        value = "true"
    written = value if value is None or match["metavar"] or re.fullmatch(r"true|\d+(\.\d+)?", value) else f'"{value}"'
    return match["name"] + ("" if written is None else f" = {written}") + rest


def _is_flag(match: re.Match[str]) -> bool:
    """Whether an option has no value here; --weights may have one."""
    return match["name"].replace("-", "_") in _FLAGS or (match["name"] == "weights" and _value(match)[0] is None and (
        match["word"] == "alone" or match.string[:match.start()].endswith("with ")))


def _value(match: re.Match[str]) -> tuple[str | None, str]:
    """The value of an option in a message, and the following text that is not part of it."""
    value, rest = next(filter(None, match.group("given", "ends", "metavar", "number")), None), ""
    if word := match["word"]:
        named = match["name"].replace("-", "_") in _NAMED and word not in _GOES_ON
        value, rest = (word, "") if named else (value, f" {word}")
    return value, rest


def _call(match: re.Match[str]) -> str:
    """A call of a function in place of a command."""
    name = FUNCTIONS[match["command"]]
    words = [word if word.isupper() else repr(word) for word in shlex.split(match["places"])]
    words += [option["name"].replace("-", "_")
              + f"={_written(_value(option)[0], bool(option['metavar']), True) or True}"
              for option in _OPTION.finditer(match["options"])]
    return f"emdiam.{name}" + (f"({', '.join(words)})" if words else "")


def _keyword(match: re.Match[str], function: str, known: Collection[str] | None) -> str:
    """A keyword in place of an option."""
    name, (value, rest) = match["name"].replace("-", "_"), _value(match)
    before = match.string[:match.start()]
    if (name == "weights" and known is not None and name not in known and "weighted" in known
            and not before.endswith("with ")):  # for a conversion that will be made
        name = "weighted" if value is None else "weight" if "weight" in known else name
    if name.startswith("no_") and _home(name[3:], known) is not None:
        name, written = name[3:], f"{name[3:]}=False"
    elif (function, name) in _OF_FUNCTION:
        written = _OF_FUNCTION[function, name]
    elif name in _RENAMED:
        written = _RENAMED[name]
        name = written.partition("=")[0]
    else:
        is_flag = name in _FLAGS or _is_flag(match)
        is_bare = "weight" not in name  # there the number of a column is a name
        written = f"{name}=" + ("True" if is_flag else _written(value, bool(match["metavar"]), is_bare))
    home = _home(name, known)
    return match[0] if home is None else written + (f" of emdiam.{home}" if home else "") + rest


def _written(value: str | None, is_metavar: bool, is_bare: bool) -> str:
    """A value in Python syntax: metavars are bare, and numbers if they are no names."""
    if value is None or is_metavar or (is_bare and re.fullmatch(r"\d+(\.\d+)?", value)):
        return value or ""
    return f'"{value}"'


def _home(name: str, known: Collection[str] | None) -> str | None:
    """The function that has a keyword; "" for the called one, None if no function has it."""
    if known is None or name in known:
        return "" if name in keywords_of_all() else None
    return keywords_of_all().get(name)


@functools.cache
def keywords_of_all() -> dict[str, str]:
    """For each keyword, the name of the first function of FUNCTIONS that has it."""
    api, found = import_module(".api", __package__), dict[str, str]()
    for name in FUNCTIONS.values():
        for keyword in keywords_of(getattr(api, name)):
            found.setdefault(keyword, name)
    return found


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """The keywords of a function of api.py. A function that takes any keyword, as emdiam.generate takes the parameters
    of graph classes, has those in its signature."""
    return frozenset(name for name, parameter in inspect.signature(function).parameters.items()
                     if parameter.kind is not inspect.Parameter.VAR_KEYWORD)


def explicit(function: _F) -> _F:
    """The function with a signature that lists its keywords in place of **options, for help() and editors; other
    parameters stay."""
    own, rest = dict[str, inspect.Parameter](), list[inspect.Parameter]()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            own[name] = parameter
        elif name != "options":
            rest.append(parameter)
    keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.python_default,
                                  annotation=option.python_annotation)
                for name, option in keywords_in_table(function.__name__).items() if name not in own]
    shown: Any = function
    shown.__signature__ = inspect.Signature([*own.values(), *keywords, *rest],
                                            return_annotation=function.__annotations__["return"])
    return function


@contextmanager
def keyword_terms(function: str = "", known: Collection[str] | None = None) -> Iterator[None]:
    """Errors that leave the context are in the terms of Python. function, known : see in_keywords."""
    try:
        yield
    except EmdiamError as error:
        reword(error, lambda text: in_keywords(text, function, known))
        raise


def with_keyword_terms(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of api.py as the package exports it: its errors, and the refusals in its plans, are in the terms of
    Python."""
    name, known = function.__name__, keywords_of(function)

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        asked = keywords.get("progress")
        if not (asked is None or isinstance(asked, bool) or callable(asked)):
            raise InputError("the value of progress= is of another kind", text=str(asked)[:80],
                             remedy="give True or False, or a function that takes an event")
        with keyword_terms(name, known):
            if "progress" not in known or (asked is None and "IPython" not in sys.modules):
                result = function(*args, **keywords)
            else:
                from .caller import is_store
                from .progress_view import watching

                command, graphs = KEYWORDS[name][0], args[:2 if name == "verify" else 1]
                of_file = command not in _WRITERS and bool(graphs) and not is_store(graphs[-1])
                with watching(asked, command, keywords, of_file) as listener:
                    result = function(*args, **{**keywords, "progress": listener})
        if notes := getattr(result, "notes", None):
            return replace(result, notes=tuple(in_keywords(note, name, known) for note in notes))
        if name == "plan":
            return [one if one.refused is None else replace(one, refused=in_keywords(one.refused, name, known))
                    for one in result]
        return result

    call.__module__ = __package__  # so that pickle finds it
    if name in KEYWORDS:
        call.__doc__ = documented(function, lambda text: in_keywords(text, name, known))
    return call
