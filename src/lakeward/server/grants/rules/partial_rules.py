"""Rules by which a part of a request is refused, and the rest is answered.

| rule | without the right |
|---|---|
| NeedsByBucket | each bucket of the table is answered with 48, other tables as ever |
| Hides | the answer is that it is not there |
| LeavesOutAsked | what was asked for is left out, without a word |
| LeavesOutListed | what would be listed is left out, without a word |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from lakeward.errors import LakewardError
from lakeward.model.acl import Operation
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.rpc.dispatch import EncodedAnswer, Exchange, Handler, Steps, begin_steps
from lakeward.server.grants.acls.authorizer import Asker
from lakeward.server.grants.acls.thing import Thing
from lakeward.server.grants.rules.known_things import KnownThings
from lakeward.server.grants.rules.rule import AT_ONCE, Judge, steps_to
from lakeward.server.grants.rules.subjects import Subjects, of_path, words

_T = TypeVar("_T")


class BucketForm(Protocol):
    """How a request that names buckets of tables is taken apart, and its refusal put together."""

    def parts(self, request: Any) -> Iterable[tuple[int, Any]]:
        """The number of each table, and what is asked of it."""
        ...

    def with_parts(self, request: Any, parts: list[Any]) -> Any:
        """The request with some of its parts."""
        ...

    def refusal(self, refused: list[tuple[Any, LakewardError]]) -> Any:
        """The answer for some parts, each with the reason why it is refused."""
        ...


@dataclass(frozen=True, slots=True)
class NeedsByBucket:
    """The right to do something to each table; buckets of the others are refused, one by one."""

    operation: Operation
    form: BucketForm

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on the table"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Answer for what is refused, and go on with the rest."""
        return lambda request, exchange: begin_steps(self._judge(request, exchange, handler, judge))

    def _judge(self, request: Any, exchange: Exchange, handler: Handler, judge: Judge) -> Steps:
        asker = judge.asker(exchange.connection)
        kept: list[Any] = []
        refused: list[tuple[Any, LakewardError]] = []
        count = 0
        for number, (table_id, part) in enumerate(self.form.parts(request), 1):
            thing = judge.known.find_table(table_id)
            if thing is None or asker.may(self.operation, thing.resource):
                kept.append(part)  # one that is not there is refused as ever, by who waits until it comes
            else:
                refused.append((part, asker.refusal(self.operation, thing.called)))
            if number % AT_ONCE == 0:
                count += self._refuse(refused, exchange)
                yield
        count += self._refuse(refused, exchange)
        if count and not kept:
            return EncodedAnswer([])  # all there is to say has been added
        if count:
            request = self.form.with_parts(request, kept)
        return (yield from steps_to(handler(request, exchange)))

    def _refuse(self, refused: list[tuple[Any, LakewardError]], exchange: Exchange) -> int:
        """Add what is refused to the answer; how much that was."""
        count = len(refused)
        if count:
            exchange.add(self.form.refusal(refused))
            refused.clear()
        return count


@dataclass(frozen=True, slots=True)
class Hides:
    """The right to know of something; who lacks it hears that it is not there."""

    subjects: Subjects
    kind: Callable[..., Any]
    #: Names that everybody knows.
    known_to_all: frozenset[str] = frozenset()

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{Operation.DESCRIBE.name} on {words(self.subjects)}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Deny that it exists, or go on."""

        def handle(request: Any, exchange: Exchange) -> Any:
            asker = judge.asker(exchange.connection)
            for thing in self.subjects(request, judge.known):
                if thing.resource.name not in self.known_to_all and not _may_know(asker, thing):
                    return self.kind(exists=False)
            return handler(request, exchange)

        return handle


@dataclass(frozen=True, slots=True)
class LeavesOutAsked:
    """GET_METADATA: tables and partitions that one may not know of are asked for in vain."""

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{Operation.DESCRIBE.name} on each table"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Ask for the rest."""

        def handle(request: MetadataRequest, exchange: Exchange) -> Any:
            if not (request.table_path or request.partitions_path or request.partitions_id):
                return handler(request, exchange)  # the servers, which whoever is connected knows
            return begin_steps(self._judge(request, exchange, handler, judge))

        return handle

    def _judge(self, request: MetadataRequest, exchange: Exchange, handler: Handler, judge: Judge) -> Steps:
        asker = judge.asker(exchange.connection)
        table_of = judge.known.table_of_partition
        asked = replace(
            request,
            table_path=(yield from _visible(asker, ((one, of_path(one)) for one in request.table_path))),
            partitions_path=(yield from _visible(asker, ((one, of_path(one)) for one in request.partitions_path))),
            partitions_id=(yield from _visible(asker, ((one, table_of(one)) for one in request.partitions_id))),
        )
        return (yield from steps_to(handler(asked, exchange)))


@dataclass(frozen=True, slots=True)
class LeavesOutListed:
    """A listing: what one may not know of, or not read, is not in it."""

    operation: Operation
    each: str
    #: The request, its answer, which things may be told, and what is known → the answer without the others.
    without: Callable[[Any, Any, Callable[[Thing], bool], KnownThings], Any]

    @property
    def right(self) -> str:
        """The right it asks for, in words."""
        return f"{self.operation.name} on each {self.each}"

    def guard(self, handler: Handler, judge: Judge) -> Handler:
        """Answer with the rest."""

        def handle(request: Any, exchange: Exchange) -> Any:
            asker = judge.asker(exchange.connection)
            answer = handler(request, exchange)
            return self.without(request, answer, lambda thing: asker.may(self.operation, thing.resource), judge.known)

        return handle


def _may_know(asker: Asker, thing: Thing) -> bool:
    return asker.may(Operation.DESCRIBE, thing.resource)


def _visible(asker: Asker, asked: Iterator[tuple[_T, Thing | None]]) -> Steps:
    """What somebody may know of. What is nowhere is left in: that it is not there is no secret."""
    kept = []
    for number, (one, thing) in enumerate(asked, 1):
        if thing is None or _may_know(asker, thing):
            kept.append(one)
        if number % AT_ONCE == 0:
            yield
    return tuple(kept)
