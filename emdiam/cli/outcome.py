"""From what happened to an exit code: 0 answered, 1 our fault, 2 input or options, 3 stopped early."""

from __future__ import annotations

import errno
import os
import traceback
from typing import Any

import click

from ..errors import EmdiamError, InputError
from .output import complain, silence_stdout

OUR_FAULT, USER_FAULT = 1, 2
# Failures of files and disks that the user can mend, wherever they surface.
_USER_ERRNOS = frozenset({
    errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EROFS,
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG,
})


class Interrupted(EmdiamError):
    """Stopped by the user before there was anything to answer with."""

    exit_code = USER_FAULT


class EmdiamCommand(click.Command):
    """A command whose broken pipes are its own: `emit` deals with a reader that has gone, so any
    other one (a helper process that died) must not pass for that."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's body."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise RuntimeError("the pipe to a helper process broke") from error


def run(group: click.Group, arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code; whatever goes wrong becomes one
    sentence on standard error. A traceback is added when EMDIAM_DEBUG=1."""
    try:
        with group.make_context("emdiam", arguments) as context:
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as leave:  # --help and --version
        return leave.exit_code
    except BrokenPipeError:  # the reader of --help has gone
        silence_stdout()
        return 0
    except click.ClickException as error:
        error.show()
        return USER_FAULT
    except EmdiamError as error:
        _trace()
        complain(f"emdiam: {error}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _trace()
        complain("emdiam: stopped by the user")
        return USER_FAULT
    except OSError as error:
        return _system_failure(error)
    except Exception as error:  # noqa: BLE001 - the last resort: one line instead of a traceback
        return _internal_failure(error)


def _system_failure(error: OSError) -> int:
    if error.errno not in _USER_ERRNOS:
        return _internal_failure(error)
    _trace()
    complain(f"emdiam: {InputError(error.strerror or str(error), path=error.filename)}")
    return USER_FAULT


def _internal_failure(error: Exception) -> int:
    _trace()
    text = " ".join(str(error).split())
    complain(f"emdiam: internal error, {type(error).__name__}: {text}; this is a fault of emdiam, please"
             " report it with the command line and what it prints under EMDIAM_DEBUG=1")
    return OUR_FAULT


def _trace() -> None:
    if os.environ.get("EMDIAM_DEBUG") == "1":
        complain(traceback.format_exc().rstrip())
