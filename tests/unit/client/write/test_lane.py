"""One bucket's batches: in order, at most this many in flight, each stored once, whatever the server says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.write.lane import SEQUENCES, Lane, Outgoing, Verdict
from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER

BUCKET = TableBucket(1, None, 0)
FOR_EVER = 1 << 30


def lane_with(count: int, *, writer_id: int = 5, next_sequence: int = 0) -> tuple[Lane, list[Outgoing]]:
    """A lane and its waiting, encoded batches."""
    lane = Lane(BUCKET, None, writer_id, next_sequence)
    batches = [Outgoing(1, 1, rows=object()) for _ in range(count)]  # type: ignore[arg-type]
    for batch in batches:
        lane.add(batch)
    return lane, batches


def take_all(lane: Lane) -> list[Outgoing]:
    """Everything that may leave now."""
    out = []
    while (batch := lane.take()) is not None:
        out.append(batch)
    return out


def test_sequences_count_from_the_given_one() -> None:
    """Batches are numbered in the order in which they leave."""
    lane, batches = lane_with(3, next_sequence=7)
    assert take_all(lane) == batches
    assert [b.sequence for b in batches] == [7, 8, 9]


def test_at_most_five_are_in_flight() -> None:
    """The server remembers five batches; a sixth in flight could not be recognised as a repetition."""
    lane, batches = lane_with(7)
    assert take_all(lane) == batches[:5]
    lane.settle(batches[0])
    assert take_all(lane) == [batches[5]]


def test_without_a_writer_id_one_is_in_flight_and_none_is_numbered() -> None:
    """Batches that the server cannot order must not overtake each other."""
    lane, batches = lane_with(2, writer_id=NO_WRITER)
    assert take_all(lane) == batches[:1]
    assert batches[0].sequence == NO_SEQUENCE


def test_a_batch_that_is_not_encoded_holds_back_those_behind_it() -> None:
    """Order is kept even when a later batch is ready sooner."""
    lane, batches = lane_with(2)
    rows, batches[0].rows = batches[0].rows, None
    assert lane.take() is None
    batches[0].rows = rows
    assert take_all(lane) == batches


def test_the_sequence_wraps_to_zero() -> None:
    """After 2³¹−1 comes 0."""
    lane, batches = lane_with(2, next_sequence=SEQUENCES - 1)
    take_all(lane)
    assert [b.sequence for b in batches] == [SEQUENCES - 1, 0]


def test_a_retriable_error_sends_the_same_sequence_again() -> None:
    """A repetition keeps its number, or the server could not tell that it is one."""
    lane, batches = lane_with(2)
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.NOT_LEADER_OR_FOLLOWER, FOR_EVER) is Verdict.AGAIN
    assert lane.take() is batches[0]
    assert batches[0].sequence == 0


def test_batches_go_again_in_their_order() -> None:
    """Whatever order the refusals come in, the lowest sequence leaves first."""
    lane, batches = lane_with(4)
    take_all(lane)
    for i in (2, 0, 3, 1):
        lane.take_refusal(batches[i], ErrorCode.NETWORK, FOR_EVER)
    assert take_all(lane) == batches


def test_a_duplicate_is_stored() -> None:
    """The server has it already."""
    lane, batches = lane_with(1)
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.DUPLICATE_SEQUENCE, FOR_EVER) is Verdict.STORED
    assert lane.unsettled_batches == 0


def test_out_of_order_behind_a_missing_predecessor_goes_again() -> None:
    """It is refused only because the one before it is not there yet."""
    lane, batches = lane_with(2)
    take_all(lane)
    assert lane.take_refusal(batches[1], ErrorCode.OUT_OF_ORDER_SEQUENCE, FOR_EVER) is Verdict.AGAIN


def test_out_of_order_at_or_below_the_last_stored_is_stored() -> None:
    """The server has gone past it."""
    lane, batches = lane_with(2)
    take_all(lane)
    lane.settle(batches[1])
    assert lane.take_refusal(batches[0], ErrorCode.OUT_OF_ORDER_SEQUENCE, FOR_EVER) is Verdict.STORED


def test_a_writer_the_server_forgot_gets_a_fresh_id() -> None:
    """The next batch, refused at its first attempt, is surely not stored: all that are left are numbered anew."""
    lane, batches = lane_with(3, next_sequence=9)
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.OUT_OF_ORDER_SEQUENCE, FOR_EVER) is Verdict.RENUMBER
    assert lane.take() is None
    assert not lane.can_renumber
    for late in batches[1:]:
        assert lane.take_refusal(late, ErrorCode.OUT_OF_ORDER_SEQUENCE, FOR_EVER) is Verdict.AGAIN
    assert lane.can_renumber
    lane.renumber(77)
    assert take_all(lane) == batches
    assert [b.sequence for b in batches] == [0, 1, 2]
    assert lane.writer_id == 77


def test_out_of_order_after_a_lost_answer_fails() -> None:
    """The first attempt may have been stored, so going on under a fresh id could store it twice."""
    lane, batches = lane_with(1)
    take_all(lane)
    lane.take_refusal(batches[0], ErrorCode.NETWORK, FOR_EVER)
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.OUT_OF_ORDER_SEQUENCE, FOR_EVER) is Verdict.FAILED


@pytest.mark.parametrize("code", [ErrorCode.RECORD_TOO_LARGE, ErrorCode.AUTHORIZATION, ErrorCode.UNKNOWN_SERVER_ERROR])
def test_other_errors_fail_for_good(code: ErrorCode) -> None:
    """What cannot succeed later is not tried again."""
    lane, batches = lane_with(1)
    take_all(lane)
    assert lane.take_refusal(batches[0], code, FOR_EVER) is Verdict.FAILED
    assert lane.unsettled_batches == 0


def test_patience_ends() -> None:
    """After so many attempts a retriable error is final."""
    lane, batches = lane_with(1)
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.NETWORK, 2) is Verdict.AGAIN
    take_all(lane)
    assert lane.take_refusal(batches[0], ErrorCode.NETWORK, 2) is Verdict.FAILED


class Server:
    """The reference: accepts the next sequence, recognises the last five, refuses the rest."""

    def __init__(self) -> None:
        self.log: list[int] = []
        self.last = -1

    def append(self, batch: Outgoing, name: int) -> ErrorCode:
        """What a server answers."""
        if self.last - 5 < batch.sequence <= self.last:
            return ErrorCode.NONE
        if batch.sequence != self.last + 1:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE
        self.last = batch.sequence
        self.log.append(name)
        return ErrorCode.NONE


@given(st.data(), st.integers(1, 20))
def test_every_batch_is_stored_once_and_in_order(data: st.DataObject, count: int) -> None:
    """Whatever requests and answers are lost, the log ends up as it was written."""
    lane, batches = lane_with(count)
    names = {batch: i for i, batch in enumerate(batches)}
    server = Server()
    troubles = 60
    while lane.unsettled_batches:
        sent = take_all(lane)
        cut = len(sent)
        if troubles and sent and data.draw(st.booleans(), "trouble"):
            troubles -= 1
            cut = data.draw(st.integers(0, len(sent)), "requests that arrive")
        answers = [(b, server.append(b, names[b])) for b in sent[:cut]]
        answers += [(b, ErrorCode.NETWORK) for b in sent[cut:]]
        for batch, code in answers:
            if cut < len(sent) and data.draw(st.booleans(), "the answer is lost"):
                code = ErrorCode.NETWORK
            if code is ErrorCode.NONE:
                lane.settle(batch)
            else:
                assert lane.take_refusal(batch, code, FOR_EVER) in {Verdict.AGAIN, Verdict.STORED}
    assert server.log == list(range(count))
