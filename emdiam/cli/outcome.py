"""The end of a command: its exit code, its answer if it was stopped, and its record of events.

Exit codes: 0 answered, 1 internal fault, 2 input or options, 3 stopped early.

A command with --json that is stopped before its answer prints the keys of its answer, with the known facts of the
graph and the bounds that hold for any graph with n vertices.

`--events FILE.jsonl` records the arguments of a command, every event, and its end, one JSON object a line (schema in
docs/events.md). Each line is a single write to a file opened for appending. So several runs may share a file, and a
killed run leaves complete lines, except perhaps the last; the next run starts a new line. A full disk ends the record
with a warning, never the run. Events of a phase are limited to one a second, after a burst at the start that records
short runs completely.
"""

from __future__ import annotations

import errno
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import click

from .. import kernel_progress
from .._version import __version__
from ..durable import open_to_append, write_all
from ..errors import EmdiamError, InputError, StoppedEarly, clause, plain, redacted
from ..progress import Allowance, Event
from ..runs.places import check_outputs
from ..runs.registry import METRICS, loaded, metric_of
from . import short_help
from .options import EVENT_LOG, EVENTS, OF_GRAPH, Written, suggesting
from .output import answer, check_stdout, complain, has_answered, last_sentence, silence
from .process import stop_asked

OUR_FAULT, USER_FAULT = 1, 2
HELP = {"help_option_names": ["-h", "--help"]}
_BY_USER, _WEIGHTED = "stopped by the user", "--weighted"
# Key of a context's meta: whether the help shows all options.
WHOLE = "emdiam.whole"
# Failures of files and disks that the user can fix, wherever they surface.
_USER_ERRNOS = frozenset({
    errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS,
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.EEXIST, errno.ELOOP,
    errno.EIO, errno.EREMOTEIO, errno.ESTALE, errno.EBUSY, errno.ENODEV, errno.ENXIO, errno.EUCLEAN, errno.EBADMSG,
    errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENOTEMPTY,
})


class Interrupted(EmdiamError):
    """Stopped by the user before any result."""

    exit_code = USER_FAULT


class EmdiamCommand(click.Command):
    """A command that first checks that all its outputs can be written. It turns a broken pipe into an error: `emit`
    handles a closed standard output, so any other broken pipe (of a helper process that died) is a fault. With
    --events it records its arguments and its end. Its help is short, and complete with --help-all."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        if any(one.metavar == "GRAPH" for one in settings.get("params", ())):
            first, blank, others = inspect.cleandoc(settings["help"]).partition("\n\n")
            settings["help"] = first + OF_GRAPH + blank + others
        # Explicit, since a command keeps the settings of its first context, which may lack the group.
        super().__init__(name, **{"context_settings": HELP, **settings})

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options of the command, and --help-all."""
        return [*super().get_params(ctx), click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
            help="Show all options, in groups, and exit.")]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line. A name of weights implies --weighted, and a value given to --weighted is an error
        that names --weight."""
        words, advice = [word for word in args if word[:1] != "-"], ""
        typed = any(arg.partition("=")[0] == _WEIGHTED for arg in args)
        try:
            left = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            surplus, option = type(error) is click.UsageError, getattr(error, "option_name", "")
            if typed and (surplus or option == _WEIGHTED) and any(one.name == "weight" for one in self.params):
                advice = "weights are named by --weight COLUMN"
            elif surplus and not typed and OF_GRAPH in (self.help or ""):
                advice = "one graph is read: quote blanks, or convert several files into a store with emdiam convert"
            elif isinstance(error, click.NoSuchOption) and (home := homes(ctx.find_root().command).get(option)):
                advice = f"it is an option of emdiam {home}"
            elif isinstance(error, click.MissingParameter) and "inputs" in str(error.param) and words:
                error.param_hint = "'STORE'"  # click gives a lone word to the last argument
            if not advice:
                raise
            raise click.UsageError(f"{clause(error.format_message())}; {advice}", ctx) from None
        if ctx.params.get("weight") is not None and "weighted" in ctx.params:
            ctx.params["weighted"] = True
        return left

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first paragraph of the description; with WHOLE in the context's meta, all paragraphs."""
        text = inspect.cleandoc(self.help or "")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text if ctx.meta.get(WHOLE) else text.partition("\n\n")[0])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the most used options and two examples; with WHOLE, all options in their groups."""
        (short_help.write_all if ctx.meta.get(WHOLE) else short_help.write_short)(self, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's body."""
        file = ctx.meta.get(EVENTS)
        check_outputs(short_help.names_of(ctx)[0], {**ctx.params, "events": file})
        if file is None:
            return self._invoke(ctx)

        log = ctx.meta[EVENT_LOG] = begin_log(file, " ".join(short_help.names_of(ctx)), ctx.params)
        try:
            code = self._invoke(ctx)
        except BaseException as error:
            log.end(*describe(error))
            raise
        log.end(int(code or 0), last_sentence())
        return code

    def _invoke(self, ctx: click.Context) -> Any:
        """Run the body. If it is stopped before its answer, print the known facts with --json."""
        begin = time.perf_counter()
        try:
            return self._do(ctx)
        except (StoppedEarly, Interrupted, KeyboardInterrupt) as error:
            name = short_help.names_of(ctx)[0]
            stop = error
            if isinstance(error, KeyboardInterrupt):
                kind = StoppedEarly if name in ANSWERING else Interrupted
                stop = kind("stopped by the user before there was an answer" if name in ANSWERING else _BY_USER)
            if ctx.params.get("as_json") and not has_answered():
                answer(unanswered(name, ctx.params, str(stop), time.perf_counter() - begin), str, True)
            raise stop from None

    def _do(self, ctx: click.Context) -> Any:
        kernel_progress.purpose = ctx.command_path.partition(" ")[2]
        for parameter in self.params:
            path = ctx.params.get(str(parameter.name))
            is_name = isinstance(parameter, click.Argument) or isinstance(parameter.type, click.Path)
            if is_name and "" in (path if isinstance(path, tuple) else (path,)):
                raise click.BadParameter("a name is empty", ctx, parameter)
            if isinstance(parameter.type, Written) and path is not None:
                parameter.type.check(path)
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise RuntimeError("the pipe to a helper process broke") from error
        except EmdiamError as error:
            if "--" in str(error):
                _say_of_which(error, ctx)
            raise


def options_of(command: click.Command) -> set[str]:
    """The options of a command, or of all commands of a group."""
    group = command if isinstance(command, click.Group) else None
    context = click.Context(command)
    inner = [group.get_command(context, name) for name in group.list_commands(context)] if group else [command]
    return {name for one in inner if one is not None for parameter in one.params
            for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")}


def homes(command: click.Command) -> dict[str, str]:
    """Each option of a group with the name of the first command that has it; empty for a command alone."""
    if not isinstance(command, click.Group):
        return {}
    context = click.Context(command)
    return {option: name for name in reversed(command.list_commands(context))
            if (inner := command.get_command(context, name)) is not None for option in options_of(inner)}


def _say_of_which(error: EmdiamError, ctx: click.Context) -> None:
    """Reword an error with the options of the running command."""
    from ..terms import in_options, reword

    if known := homes(ctx.find_root().command):
        reword(error, lambda text: in_options(text, short_help.names_of(ctx)[0], options_of(ctx.command), known))


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[WHOLE] = True
        click.echo(context.get_help())
        context.exit()


class Suggesting(click.Group):
    """A group that suggests the closest commands for an unknown name: click itself knows only loaded commands. kind :
    the word for its commands in messages."""

    kind = "command"

    def all_names(self, ctx: click.Context) -> list[str]:
        """All names of commands, listed or not."""
        return self.list_commands(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command at the start of `args`, and the remaining arguments. Raises UsageError."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            message = error.message.replace("command", self.kind, 1)
            message = (f"{message.rstrip('.')}; for the diameter of a graph: emdiam exact {quote(args[0])}"
                       if os.path.exists(args[0]) else suggesting(message, args[0], self.all_names(ctx)))
            raise click.UsageError(message, ctx) from None


def describe(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence of an error of a command."""
    if isinstance(error, OSError | InputError) and _is_adrift():
        return USER_FAULT, ("the folder that this command runs in has been deleted; change to one that exists (cd), and"
                            " give the command again")
    if isinstance(error, click.ClickException):
        context = error.ctx if isinstance(error, click.UsageError) else None
        more = "" if context is None else f"; see {context.command_path} --help"
        return USER_FAULT, clause(error.format_message()) + more
    if isinstance(error, EmdiamError) and not (error.exit_code == OUR_FAULT and stop_asked()):
        return error.exit_code, str(error)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return USER_FAULT, _BY_USER
    if isinstance(error, OSError) and error.errno in _USER_ERRNOS:
        return USER_FAULT, str(InputError(error.strerror or str(error), path=error.filename))
    if stop_asked():
        return USER_FAULT, _BY_USER
    text = redacted(" ".join(str(error).split()))
    return OUR_FAULT, (f"internal error, {type(error).__name__}: {text}; this is a fault of emdiam, please"
                       " report it with the command line and what it prints under EMDIAM_DEBUG=1")


def _is_adrift() -> bool:
    """Whether the current folder has been deleted, so that no relative path is valid."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def run(group: click.Group, arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code. Any error becomes one sentence on standard error, with
    a traceback if EMDIAM_DEBUG=1."""
    try:
        check_stdout()
    except InputError as error:
        complain(f"emdiam: {error}")
        return error.exit_code
    context = None
    try:
        with group.make_context("emdiam", arguments) as context:
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as leave:  # --help and --version
        return leave.exit_code
    except BrokenPipeError:  # the reader of --help has closed the pipe
        silence(sys.stdout)
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        complain(error.format_message())
        return USER_FAULT
    except (Exception, KeyboardInterrupt) as error:  # in place of a traceback, one line
        if os.environ.get("EMDIAM_DEBUG") == "1":
            import traceback

            complain(traceback.format_exc().rstrip())
        code, sentence = describe(error)
        complain(f"emdiam: {sentence}")
        if "--json" in arguments and not has_answered(context):
            answer(failure(error, code, sentence), str, True)
        return code


def failure(error: BaseException, code: int, sentence: str) -> dict[str, Any]:
    """The object that a command with --json prints in place of an answer: the sentence, the exit code, and the position
    and remedy of an input error."""
    names = ("path", "line", "byte", "text", "remedy") if isinstance(error, InputError) else ()
    return {"error": sentence, "exit_code": code, **{name: plain(getattr(error, name)) for name in names},
            "version": __version__}


# Commands that answer with bounds or partial counts if stopped, with exit code 3.
ANSWERING = {command for row in METRICS.values() for command in row.kinds} | {"verify", "tradeoff", "batch"}
# Classes of answers outside the table of metrics.
_REPORT, _ROWS = "certificates.documents:VerifyReport", "distribution.table:DistanceRows"
_RECORD_FILE = "zarr.json"
# Arguments that an answer repeats.
_ASKED = ("method", "source", "target", "seed", "quantile")
# Parts of the seconds of an answer, beside the total.
_PARTS = ("compile", "load", "solve", "verify")


def stored_record(store: str) -> Mapping[str, Any]:
    """The record of a store, without opening it; empty if the path is not a store on a disk."""
    try:
        record = json.loads((Path(store) / _RECORD_FILE).read_text(encoding="utf-8"))["attributes"]["emdiam"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return record if isinstance(record, dict) else {}


def unanswered(command: str, values: Mapping[str, Any], sentence: str, seconds: float) -> dict[str, Any]:
    """The object to print if a command was stopped before its answer.

    Parameters
    ----------
    command : name of the command.
    values : values of its options, by name.
    sentence : why it was stopped.
    seconds : its run time.

    Returns
    -------
    dict : the keys of the command's answer. Unknown values are null, empty or 0; lower and upper hold for any graph
        with n vertices, upper is null along weights. stopped : the sentence.
    """
    facts: dict[str, Any] = {"complete": False, "seconds": {"total": seconds}, "version": __version__}
    row = metric_of(command, values)
    place = (_REPORT if command == "verify" else _ROWS if command == "distances" and values["sources"] else
             "" if row is None else row.kinds[command].result)
    if place:
        facts = _of_kind(loaded(place), values, seconds)
    return {**facts, "stopped": sentence}


def _of_kind(kind: type[Any], values: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """An answer of this class without results."""
    from ..methods.result import Result, Traversals
    from ..units import peak_rss_bytes

    store = str(values["store"])
    record = stored_record(store)
    n = record.get("n_vertices")
    known: dict[str, Any] = {name: values[name] for name in _ASKED if values.get(name) is not None} | {
        "n_vertices": n, "n_edges": record.get("n_edges"), "n_arcs": record.get("n_arcs"), "unresolved": n,
        "exact": False, "complete": False, "verified": False, "version": __version__,
        "memory_limit_bytes": values.get("memory"), "peak_rss_bytes": peak_rss_bytes(),
        "store_digest": record.get("chunk_digest", ""), "store_path": store,
        "store_name": Path(store).name.removesuffix(".zarr"),
        "seconds": {**dict.fromkeys(_PARTS, 0.0), "startup": seconds, "total": seconds}}
    if issubclass(kind, Result):
        known |= {"lower": 0, "upper": None if n is None or values.get("weighted") else max(0, n - 1),
                  "traversals": Traversals()}
    named = [one for one in fields(kind) if one.init]
    empty: dict[str, Any] = {one.name: {} if str(one.type).startswith("dict") else None
             for one in named if one.default is MISSING and one.default_factory is MISSING}
    return dict(kind(**empty | {one.name: known[one.name] for one in named if one.name in known}).to_dict())


SCHEMA = 1
AT_ONCE, RATE = 100, 1.0
TURNS_AT_ONCE, TURN_RATE = 400, 5.0
_JSON = json.JSONEncoder(allow_nan=False)


class EventLog:
    """A listener that writes records. begin_log makes it, `end` closes it, and any thread may call it.

    path : file to append to. Raises InputError if it cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            self._file = open_to_append(path)
        except OSError as error:
            raise InputError(f"events cannot be written ({error.strerror})", path=path,
                             remedy="name a file in a folder that you may write to") from error
        self._path, self._run = str(path), os.urandom(4).hex()
        self._began, self._lock = time.monotonic(), threading.Lock()
        self._open, self._phase = True, ""
        self._all, self._turns = Allowance(AT_ONCE, RATE), Allowance(TURNS_AT_ONCE, TURN_RATE)
        self._torn = self._ends_torn()

    def __call__(self, event: Event) -> None:
        """Record an event, unless recent ones have used up the allowance."""
        if event.kind == "traversal":  # the library limits their rate
            facts = {"phase": event.phase, **event.facts}
            profile = {"profile": facts.pop("profile")} if "profile" in facts else {}
            self.write("traversal", facts, **profile)
            return
        if event.kind == "jobs":  # each job records its own events
            return
        turn = event.finished or event.phase != self._phase
        if self._all.take() or (turn and self._turns.take()):
            self._phase = event.phase
            self.write("progress", {name: getattr(event, name) for name in (
                "phase", "done", "total", "unit", "finished", "facts")})

    def end(self, exit_code: int, sentence: str | None) -> None:
        """Write the last record and close the file. sentence : the printed error, if any."""
        self.write("end", {"exit_code": exit_code, "sentence": sentence})
        with self._lock:
            self._close()

    def write(self, record: str, rest: dict[str, Any], **profile: list[list[int]]) -> None:
        """Write a record. profile : already plain; converting it would take six times as long as writing it."""
        with self._lock:
            if not self._open:
                return
            data = {"record": record, "run": self._run, "at": round(time.monotonic() - self._began, 6),
                    "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                    "kernel_seconds": round(_kernel_seconds(), 6), **plain(rest), **profile}
            line = (b"\n" if self._torn else b"") + _JSON.encode(data).encode() + b"\n"
            self._torn = False
            try:
                write_all(partial(os.write, self._file), line)
            except OSError as error:
                self._close()
                complain(f"warning: no more events are written to {self._path} ({error.strerror})")

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._file)

    def _ends_torn(self) -> bool:
        """Whether the file ends inside a line, which a killed run may leave."""
        try:
            size = os.fstat(self._file).st_size
            return size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        except OSError:  # a pipe or a terminal has no end to read
            return False


def _kernel_seconds() -> float:
    """jit.kernel_seconds, or 0 without its import, which a command without kernels avoids."""
    jit = sys.modules.get("emdiam.jit")
    return 0.0 if jit is None else float(jit.kernel_seconds())


def begin_log(path: str | Path, command: str, arguments: dict[str, Any]) -> EventLog:
    """A log at `path`, with a first record of the command and its arguments by option name. Raises InputError if the
    file cannot be opened."""
    log = EventLog(path)
    store = None if command in ("convert", "generate") else arguments.get("store")
    log.write("begin", {"schema": SCHEMA, "command": command, "version": __version__, "arguments": arguments,
                        "store_digest": None if store is None else stored_record(str(store)).get("chunk_digest"),
                        "process": os.getpid()})
    return log
