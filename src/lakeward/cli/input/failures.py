"""The one place where exceptions become a sentence on stderr and an exit code.

0   done
1   the server, a file or the data said no
2   the command line was wrong (click's own errors)
130 stopped with Ctrl-C
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lakeward.cli.input.near_names import hint_for
from lakeward.cli.input.session import Session
from lakeward.cli.output.plain_text import lines
from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.secrets import without_passwords

EXIT_INTERRUPTED = 130


class Failure(click.ClickException):
    """Something a person can understand and act on; exit code 1."""


@contextmanager
def told_plainly(context: click.Context) -> Iterator[None]:
    """Run a command; whatever it raises is reported in a sentence, or with its trace under --debug."""
    try:
        yield
        sys.stdout.flush()  # a reader that went away is noticed here, not when the interpreter ends
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        context.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        _silence_stdout()
        context.exit(0)
    except Exception as wrong:
        if context.ensure_object(Session).debug:
            raise
        raise Failure(sentence(wrong) + hint(context, wrong)) from wrong


def hint(context: click.Context, wrong: Exception) -> str:
    """What else to try after an exception, with a space in front; empty when nobody knows."""

    return hint_for(context.ensure_object(Session), wrong) if isinstance(wrong, LakewardError) else ""


def sentence(wrong: Exception) -> str:
    """What to tell a person about an exception, without passwords and control characters."""
    return lines(without_passwords(_sentence(wrong)))


def _sentence(wrong: Exception) -> str:
    if isinstance(wrong, LakewardError):
        if wrong.code is ErrorCode.NETWORK:
            return f"{wrong.message} `lakeward serve` starts one, --server names another."
        return wrong.message
    if isinstance(wrong, OSError):
        place = "" if wrong.filename is None else f"{wrong.filename}: "
        return f"{place}{wrong.strerror or wrong}"
    if _is_arrow(wrong):
        return str(wrong).strip()
    kind = type(wrong).__name__
    return f"Unexpected {kind}: {wrong}. This is a bug in lakeward; run again with --debug for the trace."


def _is_arrow(wrong: Exception) -> bool:
    # Without importing Arrow: who raises its errors has loaded it already.
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(wrong, arrow.ArrowException)


def _silence_stdout() -> None:
    # The interpreter flushes stdout when it ends; without a reader that flush would print a second complaint.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
