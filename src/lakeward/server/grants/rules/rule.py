"""Rules: what an API asks for, and what becomes of a request of somebody who lacks it.

| rule | without the right |
|---|---|
| Open | there is none to have |
| ForServers | ERROR 48, whatever was granted |
| Needs, NeedsAll, NeedsOne, NeedsSomewhere | ERROR 48 |
| NeedsInBody | the answer says 48 in fields of its own |
| Depends | as one of two rules says |
| SeesForItself | the handler finds out what it is about, and asks |

Those that refuse a part of a request are in `partial_rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, Protocol

from lakeward.errors import LakewardError
from lakeward.model.acl import Operation
from lakeward.rpc.dispatch import Exchange, Handler, Steps, begin_steps
from lakeward.rpc.error_answers import refusal
from lakeward.rpc.server_connection import ServerConnection
from lakeward.server.grants.acls.authorizer import Asker, Authorizer
from lakeward.server.grants.acls.thing import Thing
from lakeward.server.grants.rules.known_things import KnownThings
from lakeward.server.grants.rules.subjects import Subjects, words

#: So many things are judged without a break.
AT_ONCE = 256


class Judge:
    """Who asks, and what they ask about."""

    def __init__(self, authorizer: Authorizer, known: KnownThings) -> None:
        self._authorizer = authorizer
        self.known = known

    def asker(self, connection: ServerConnection) -> Asker:
        """Who is at the other end."""
        return self._authorizer.asker(connection)


class Rule(Protocol):
    """Puts itself before a handler."""

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        ...

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """A handler that is asked only as far as the asker may."""
        ...


@dataclass(frozen=True, slots=True)
class Open:
    """Whoever got this far."""

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return "none"

    def guard(self, handler: Handler, _judge: Judge) -> Handler:
        """The handler as it is."""
        return handler


@dataclass(frozen=True, slots=True)
class ForServers:
    """Other servers of the cluster, and nobody else; `between_servers` sees to it, grants or not."""

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return "being a server of the cluster"

    def guard(self, handler: Handler, _judge: Judge) -> Handler:
        """The handler as it is."""
        return handler


@dataclass(frozen=True, slots=True)
class SeesForItself:
    """The handler asks, when it knows what the request is about."""

    right: str

    def guard(self, handler: Handler, _judge: Judge) -> Handler:
        """The handler as it is."""
        return handler


@dataclass(frozen=True, slots=True)
class Needs:
    """The right to do something to everything that the request is about."""

    operation: Operation
    subjects: Subjects

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on {words(self.subjects)}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Refuse, or go on."""

        def handle(request: Any, exchange: Exchange) -> Any:
            asker = judge.asker(exchange.connection)
            for thing in self.subjects(request, judge.known):
                asker.check(self.operation, thing)
            return handler(request, exchange)

        return handle


@dataclass(frozen=True, slots=True)
class NeedsAll:
    """The same where a request may be about thousands of things: they are judged a few at a time."""

    operation: Operation
    subjects: Subjects

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on {words(self.subjects)}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Refuse, or go on."""
        return lambda request, exchange: begin_steps(self._judge(request, exchange, handler, judge))

    def _judge(self, request: Any, exchange: Exchange, handler: Handler, judge: Judge) -> Steps:
        asker = judge.asker(exchange.connection)
        for number, thing in enumerate(self.subjects(request, judge.known), 1):
            asker.check(self.operation, thing)
            if number % AT_ONCE == 0:
                yield
        return (yield from steps_to(handler(request, exchange)))


@dataclass(frozen=True, slots=True)
class NeedsOne:
    """The right to do something to one of the things that the request is about; about nothing is not enough."""

    operation: Operation
    subjects: Subjects

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on one of {words(self.subjects)}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Refuse, or go on."""

        return lambda request, exchange: begin_steps(self._judge(request, exchange, handler, judge))

    def _judge(self, request: Any, exchange: Exchange, handler: Handler, judge: Judge) -> Steps:
        asker = judge.asker(exchange.connection)
        first: Thing | None = None
        for number, thing in enumerate(self.subjects(request, judge.known), 1):
            if asker.may(self.operation, thing.resource):
                return (yield from steps_to(handler(request, exchange)))
            first = first or thing
            if number % AT_ONCE == 0:
                yield
        raise asker.refusal(self.operation, "a table that is not named" if first is None else first.called)


@dataclass(frozen=True, slots=True)
class NeedsSomewhere:
    """The right to do something, to whatever it may be."""

    operation: Operation

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on anything"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Refuse, or go on."""

        def handle(request: Any, exchange: Exchange) -> Any:
            asker = judge.asker(exchange.connection)
            if not asker.may_somewhere(self.operation):
                raise asker.refusal(self.operation, "anything")
            return handler(request, exchange)

        return handle


@dataclass(frozen=True, slots=True)
class NeedsInBody:
    """The right to do something to what the request is about; the answer has fields for the refusal."""

    operation: Operation
    subjects: Subjects
    kind: Callable[..., Any]

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on {words(self.subjects)}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Answer with the error, or go on."""

        def handle(request: Any, exchange: Exchange) -> Any:
            asker = judge.asker(exchange.connection)
            try:
                for thing in self.subjects(request, judge.known):
                    asker.check(self.operation, thing)
            except LakewardError as wrong:
                return refusal(self.kind, wrong)
            return handler(request, exchange)

        return handle


@dataclass(frozen=True, slots=True)
class Depends:
    """One rule for requests with a mark, another one for all others."""

    is_marked: Callable[[Any], bool]
    marked: Rule
    others: Rule

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.others.right}; {self.marked.right} where it says so"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Ask as the one or the other rule."""
        marked, others = self.marked.guard(handler, judge), self.others.guard(handler, judge)
        return lambda request, exchange: (marked if self.is_marked(request) else others)(request, exchange)


def steps_to(answer: Any) -> Steps:
    """The answer of a handler, which may take steps of its own."""
    if type(answer) is GeneratorType:
        answer = yield from answer
    return answer
