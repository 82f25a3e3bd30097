"""IsrReports: changes of the in-sync set, asked of the coordinator until it is known what became of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.servers import reports as messages
from lakeward.server.replica.in_sync import REPORT_ERRORS, Proposal, Report
from lakeward.server.replica.peers import Peers
from lakeward.server.replica.replica import Replica

_log = logging.getLogger(__name__)
_AGAIN_S = 0.2
_AGAIN_S_MAX = 5.0
Settle = Callable[[Replica, Proposal, tuple[int, ...], int], None]


class IsrReports:
    """One question at a time for each bucket."""

    def __init__(self, server_id: int, peers: Peers, settle: Settle) -> None:
        """`settle` is told which set counts now, and its bucket epoch."""
        self._server_id = server_id
        self._peers = peers
        self._settle = settle
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, replica: Replica, proposal: Proposal) -> None:
        """Ask, in the background."""
        task = asyncio.get_running_loop().create_task(self._ask(replica, proposal))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Ask no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, replica: Replica, proposal: Proposal) -> None:
        pause_s = _AGAIN_S
        while True:
            book = replica.in_sync
            if book is None or book.proposed is not proposal:
                return
            try:
                answer = await self._peers.ask_coordinator(Api.ADJUST_ISR, self._request(replica, proposal))
                one = answer.tables_resp[0].buckets_resp[0]
                if not one.error_code:
                    _log.info("%s: in sync are now %s", replica.bucket, list(one.isr))
                    self._settle(replica, proposal, tuple(one.isr), one.bucket_epoch or 0)
                    return
                wrong = ErrorCode.of_wire(one.error_code).error(one.error_message or "The coordinator gave no reason.")
            except LakewardError as failed:
                wrong = failed
            report = REPORT_ERRORS.get(wrong.code, Report.UNKNOWN)
            _log.warning("%s: the in-sync set %s was not taken: %s", replica.bucket, list(proposal.isr), wrong)
            if not book.reject(proposal, report):
                return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _AGAIN_S_MAX)

    def _request(self, replica: Replica, proposal: Proposal) -> messages.AdjustIsrRequest:
        bucket, standing = replica.bucket, replica.standing
        one = messages.PbAdjustIsrReqForBucket(
            partition_id=bucket.partition_id,
            bucket_id=bucket.bucket,
            leader_epoch=standing.leader_epoch,
            new_isr=proposal.isr,
            coordinator_epoch=standing.coordinator_epoch,
            bucket_epoch=standing.bucket_epoch,
        )
        table = messages.PbAdjustIsrReqForTable(table_id=bucket.table_id, buckets_req=(one,))
        return messages.AdjustIsrRequest(server_id=self._server_id, tables_req=(table,))
