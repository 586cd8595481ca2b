"""From what happened to an exit code: 0 answered, 1 our fault, 2 input or options, 3 stopped early."""

from __future__ import annotations

import errno
import os
import sys
import time
from typing import Any

import click

from ..addresses import redacted
from ..errors import EmdiamError, InputError, StoppedEarly, clause
from .options import EVENT_LOG, EVENTS, SECTIONS, Written, suggesting
from .output import answer, check_stdout, complain, has_answered, last_sentence, silence
from .process import stop_asked
from .unanswered import ANSWERING, unanswered

OUR_FAULT, USER_FAULT = 1, 2
HELP = {"help_option_names": ["-h", "--help"]}
_BY_USER = "stopped by the user"
# Failures of files and disks that the user can fix, wherever they surface.
_USER_ERRNOS = frozenset({
    errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS,
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.EEXIST, errno.ELOOP,
    errno.EIO, errno.EREMOTEIO, errno.ESTALE, errno.EBUSY, errno.ENODEV, errno.ENXIO, errno.EUCLEAN, errno.EBADMSG,
    errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENOTEMPTY,
})


class Interrupted(EmdiamError):
    """Stopped by the user before there was anything to answer with."""

    exit_code = USER_FAULT


class EmdiamCommand(click.Command):
    """A command that does not begin before all that it is to write can be written. Its broken pipes are its own:
    `emit` deals with a reader that has gone, so any other one (a helper process that died) must not pass for
    that. With --events it keeps a record of what was asked and how it ended. The help of one that runs methods has its
    options in SECTIONS."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        # Its own, since a command keeps what its first context says of them, which may be one without the group.
        super().__init__(name, **{"context_settings": HELP, **settings})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        parameters = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        if not {"method", "methods"} & {parameter.name for parameter in parameters}:
            super().format_options(ctx, formatter)
            return
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Options", *SECTIONS)}
        for parameter in parameters:
            title = next((title for title, names in SECTIONS.items() if parameter.name in names), "Options")
            row = parameter.get_help_record(ctx)
            if row is not None:
                rows[title].append(row)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's body."""
        file = ctx.meta.get(EVENTS)
        if file is None:
            return self._invoke(ctx)
        from .events import begin_log

        name = " ".join(ctx.command_path.split()[1:])  # as it is typed, without "emdiam": "generate rmat"
        log = ctx.meta[EVENT_LOG] = begin_log(file, name, ctx.params)
        try:
            code = self._invoke(ctx)
        except BaseException as error:
            log.end(*describe(error))
            raise
        log.end(int(code or 0), last_sentence())
        return code

    def _invoke(self, ctx: click.Context) -> Any:
        """The body; one that is stopped before it has printed an answer prints what is known, with --json."""
        begin = time.perf_counter()
        try:
            return self._do(ctx)
        except (StoppedEarly, Interrupted, KeyboardInterrupt) as error:
            name = ctx.command_path.split()[1]
            stop = error
            if isinstance(error, KeyboardInterrupt):
                kind = StoppedEarly if name in ANSWERING else Interrupted
                stop = kind("stopped by the user before there was an answer" if name in ANSWERING else _BY_USER)
            if ctx.params.get("as_json") and not has_answered():
                answer(unanswered(name, ctx.params, str(stop), time.perf_counter() - begin), str, True)
            raise stop from None

    def _do(self, ctx: click.Context) -> Any:
        for parameter in self.params:
            path = ctx.params.get(str(parameter.name))
            if isinstance(parameter.type, Written) and path is not None:
                parameter.type.check(path)
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise RuntimeError("the pipe to a helper process broke") from error


class Suggesting(click.Group):
    """A group that names the closest of its commands where there is none of the name that was given: click itself only
    knows of commands that are loaded. kind : what a command of it is."""

    kind = "command"

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with, and what is left of them. Raises UsageError."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(suggesting(
                error.message.replace("command", self.kind, 1), args[0], self.list_commands(ctx)), ctx) from None


def describe(error: BaseException) -> tuple[int, str]:
    """The exit code of what a command raised, and its sentence."""
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
    """Whether the current folder has been deleted: no relative path leads anywhere then."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def run(group: click.Group, arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code; whatever goes wrong becomes one
    sentence on standard error. A traceback is added when EMDIAM_DEBUG=1."""
    try:
        check_stdout()
        with group.make_context("emdiam", arguments) as context:
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as leave:  # --help and --version
        return leave.exit_code
    except BrokenPipeError:  # the reader of --help has gone
        silence(sys.stdout)
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        complain(error.format_message())
        return USER_FAULT
    except (Exception, KeyboardInterrupt) as error:  # the last resort: one line instead of a traceback
        if os.environ.get("EMDIAM_DEBUG") == "1":
            import traceback

            complain(traceback.format_exc().rstrip())
        code, sentence = describe(error)
        complain(f"emdiam: {sentence}")
        return code
