"""A server that answers for a cluster says so when the cluster cannot be reached, and goes on once it can."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Thread

import click

import lakeward
from lakeward.cli.input.session import Session
from lakeward.errors import ErrorCode, LakewardError, RetriableError

_AGAIN_S = 1.0
#: What a client is asked at the end; we say what to do.
_QUESTION = " Is the server running?"
_PATIENCE = {"client.connect-timeout": "3 s", "client.request-timeout": "5 s"}


def watch_cluster(session: Session) -> None:
    """Look, beside what the command does, until the cluster is there; where it is not, that is told on stderr."""
    say = partial(click.echo, err=True)
    Thread(target=_watch, args=(session, say), name="lakeward-cluster-watch", daemon=True).start()


def _watch(session: Session, say: Callable[[str], None]) -> None:
    was_away = False
    while (why := _absence(session)) is not None:
        if not was_away:
            say(
                f"{why.removesuffix(_QUESTION)} Start the cluster (`lakeward serve`), or name another with --server; "
                "until it is there, what is asked here fails; then it is answered, without a new start."
            )
        was_away = True
        time.sleep(_AGAIN_S)
    if was_away:
        say(f"The cluster at {session.server} is there.")


def _absence(session: Session) -> str | None:
    """Why nobody answers; None if somebody does, whatever they say."""
    try:
        lakeward.connect(session.server, **{**session.credentials.options(), **_PATIENCE}).close()
    except LakewardError as wrong:
        is_away = isinstance(wrong, RetriableError) or wrong.code is ErrorCode.NETWORK
        return wrong.message if is_away else None
    return None
