"""CREATE_ACLS, LIST_ACLS, DROP_ACLS: rights are given out, shown and taken back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import names
from lakeward.model.acl import ANY_NAME, CLUSTER, Acl, AclFilter, Operation, Permission, Resource, ResourceType
from lakeward.protocol.acl_forms import acl_message, acl_of, filter_of
from lakeward.protocol.api import Api
from lakeward.protocol.codec import Parts, encode
from lakeward.protocol.messages import acl as messages
from lakeward.rpc.dispatch import EncodedAnswer, Exchange, Handler, Steps, begin_steps
from lakeward.rpc.error_answers import consent, refusal
from lakeward.server.grants.acls.authorizer import Authorizer
from lakeward.server.grants.acls.thing import Thing

_TEXT_LENGTH_MAX = 255
_FILTERS_MAX = 1000
#: So many entries of a request are written down.
_TOLD_MAX = 100
#: So many entries are looked at without a break.
_AT_ONCE = 256


class AclHandlers:
    """What may be asked of the book of grants."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._book = authorizer.book

    def handlers(self) -> dict[Api, Handler]:
        """The functions by API."""
        return {Api.CREATE_ACLS: self.create, Api.LIST_ACLS: self.show, Api.DROP_ACLS: self.drop}

    def create(self, request: messages.CreateAclsRequest, exchange: Exchange) -> messages.CreateAclsResponse:
        """CREATE_ACLS: an answer for each entry; what can be kept is kept, in one change."""
        wanted = [acl_of(one) for one in request.acl]
        complaints = [_complaint(acl) for acl in wanted]
        good = [acl for acl, wrong in zip(wanted, complaints, strict=True) if wrong is None]
        try:
            self._book.add(good)
        except LakewardError as full:
            complaints, good = [wrong or full for wrong in complaints], []
        exchange.concern({"granted": _lines_of(good)})
        return messages.CreateAclsResponse(
            acl_res=tuple(_result(one, wrong) for one, wrong in zip(request.acl, complaints, strict=True))
        )

    def show(self, request: messages.ListAclsRequest, exchange: Exchange) -> Any:
        """LIST_ACLS: the entries of what the asker may know of."""
        return begin_steps(self._show(filter_of(request.acl_filter), exchange))

    def _show(self, wanted: AclFilter, exchange: Exchange) -> Steps:
        asker = self._authorizer.asker(exchange.connection)
        candidates = self._book.index.candidates(wanted)
        parts: Parts = []
        for at in range(0, len(candidates), _AT_ONCE):
            if at:
                yield
            some = (acl for acl in candidates[at : at + _AT_ONCE] if wanted.takes(acl))
            told = tuple(acl_message(acl) for acl in some if asker.may(Operation.DESCRIBE, acl.resource))
            parts.append(encode(messages.ListAclsResponse(acl=told)))
        return EncodedAnswer(parts)

    def drop(self, request: messages.DropAclsRequest, exchange: Exchange) -> Any:
        """DROP_ACLS: what each filter means goes, in one change; what several mean is the first one's."""
        if len(request.acl_filter) > _FILTERS_MAX:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"A request may hold {_FILTERS_MAX} filters at most.")
        asker = self._authorizer.asker(exchange.connection)
        if not asker.may_somewhere(Operation.ALL):  # nor are they told by the answer which grants there are
            raise asker.refusal(Operation.ALL, "anything")
        return begin_steps(self._drop([filter_of(one) for one in request.acl_filter], exchange))

    def _drop(self, filters: list[AclFilter], exchange: Exchange) -> Steps:
        found: dict[Acl, int] = {}
        for number, wanted in enumerate(filters):
            if number:
                yield
            for acl in self._book.index.candidates(wanted):
                if wanted.takes(acl):
                    found.setdefault(acl, number)
        asker = self._authorizer.asker(exchange.connection)
        for resource in {acl.resource.owner for acl in found}:
            asker.check(Operation.ALL, Thing.by_name(resource))
        gone = {
            acl: number for acl, number in found.items() if acl in self._book.index
        }  # another may have been quicker
        self._book.remove(gone)
        exchange.concern({"revoked": _lines_of(gone)})
        by_filter: list[list[Acl]] = [[] for _ in filters]
        for acl, number in gone.items():
            by_filter[number].append(acl)
        return messages.DropAclsResponse(
            filter_results=tuple(
                messages.PbDropAclsFilterResult(
                    matching_acls=tuple(messages.PbDropAclsMatchingAcl(acl=acl_message(acl)) for acl in acls)
                )
                for acls in by_filter
            )
        )


def _lines_of(acls: Iterable[Acl]) -> list[str]:
    """Entries for the record."""
    return [str(acl) for acl in islice(acls, _TOLD_MAX)]


def _result(one: messages.PbAclInfo, wrong: LakewardError | None) -> messages.PbCreateAclRespInfo:
    kind = messages.PbCreateAclRespInfo
    return consent(kind, acl=one) if wrong is None else refusal(kind, wrong, acl=one)


def _complaint(acl: Acl) -> LakewardError | None:
    """Why an entry would never let anybody do anything, or could not be shown; None when it is fine."""
    invalid = ErrorCode.OPERATION_NOT_ATTEMPTED.error
    if Operation.ANY is acl.operation or Permission.ANY is acl.permission or ResourceType.ANY is acl.resource.type:
        return invalid("ANY is for filters; a grant names a type of resource, an operation, and ALLOW.")
    texts = (acl.principal.name, acl.principal.type, acl.host)
    if not all(0 < len(text) <= _TEXT_LENGTH_MAX and text.isprintable() for text in texts):
        return invalid(f"A principal, its type and a host have 1 to {_TEXT_LENGTH_MAX} characters that can be printed.")
    return None if acl.resource.name == ANY_NAME else _complaint_of_name(acl.resource)


def _complaint_of_name(resource: Resource) -> LakewardError | None:
    if resource.type is ResourceType.CLUSTER:
        fits = resource == CLUSTER
        return None if fits else ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The cluster is called '{CLUSTER.name}'.")
    database, dot, table = resource.name.partition(".")
    if wrong := names.complaint(database):
        return ErrorCode.INVALID_DATABASE.error(f"The database '{database:.200}' is invalid: {wrong}")
    if resource.type is ResourceType.DATABASE:
        return ErrorCode.INVALID_DATABASE.error("A database has no dot in its name.") if dot else None
    wrong = names.complaint(table) if dot else "it is written database.table."
    return ErrorCode.INVALID_TABLE.error(f"The table '{resource.name:.200}' is invalid: {wrong}") if wrong else None
