"""Handlers for server tags and rebalance, as a cluster of one server answers them."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages import cluster as messages
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers

_COMPLETED = 3
_GOALS = {0: "REPLICA_DISTRIBUTION", 1: "LEADER_DISTRIBUTION", 2: "RACK_AWARE"}


class BalanceHandlers:
    """A rebalance has nothing to move here: it is done when it is asked for."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._tags = coordinator.server_tags
        self._entropy = coordinator.entropy
        self._last_id: str | None = None

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.ADD_SERVER_TAG: self.add_tag,
            Api.REMOVE_SERVER_TAG: self.remove_tag,
            Api.REBALANCE: self.rebalance,
            Api.LIST_REBALANCE_PROGRESS: self.progress,
            Api.CANCEL_REBALANCE: self.cancel,
        }

    def add_tag(self, request: messages.AddServerTagRequest, _: Caller) -> messages.AddServerTagResponse:
        """ADD_SERVER_TAG: all servers or none."""
        self._tags.add(request.server_ids, request.server_tag)
        return messages.AddServerTagResponse()

    def remove_tag(self, request: messages.RemoveServerTagRequest, _: Caller) -> messages.RemoveServerTagResponse:
        """REMOVE_SERVER_TAG: all servers or none."""
        self._tags.remove(request.server_ids, request.server_tag)
        return messages.RemoveServerTagResponse()

    def rebalance(self, request: messages.RebalanceRequest, _: Caller) -> messages.RebalanceResponse:
        """REBALANCE: an empty plan, done at once."""
        unknown = [goal for goal in request.goals if goal not in _GOALS]
        if unknown or not request.goals:
            goals = ", ".join(f"{number} {name}" for number, name in _GOALS.items())
            raise ErrorCode.REBALANCE_FAILURE.error(f"A rebalance has one or more of the goals {goals}.")
        self._last_id = str(self._entropy.uuid())
        return messages.RebalanceResponse(rebalance_id=self._last_id)

    def progress(
        self, request: messages.ListRebalanceProgressRequest, _: Caller
    ) -> messages.ListRebalanceProgressResponse:
        """LIST_REBALANCE_PROGRESS: the last one has moved nothing and is complete."""
        self._check_id(request.rebalance_id, "list")
        if self._last_id is None:
            return messages.ListRebalanceProgressResponse()
        return messages.ListRebalanceProgressResponse(rebalance_id=self._last_id, rebalance_status=_COMPLETED)

    def cancel(self, request: messages.CancelRebalanceRequest, _: Caller) -> messages.CancelRebalanceResponse:
        """CANCEL_REBALANCE: what is done stays done."""
        self._check_id(request.rebalance_id, "cancel")
        return messages.CancelRebalanceResponse()

    def _check_id(self, asked: str | None, purpose: str) -> None:
        if asked is not None and asked != self._last_id:
            raise ErrorCode.NO_REBALANCE_IN_PROGRESS.error(
                f"Rebalance task id {asked[:80]} to {purpose} is not the current rebalance task id,"
                f" {self._last_id or 'of which there is none'}."
            )
