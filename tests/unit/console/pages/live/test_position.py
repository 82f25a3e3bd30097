"""How far a tail is."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fake_cluster import table_info

from lakeward.client.forms.results import BucketId
from lakeward.console.pages.live.position import BUCKETS_MAX, Position, offsets_of_text
from lakeward.errors import LakewardError


def test_it_moves_behind_the_rows_that_were_read() -> None:
    """The next offset of each bucket, also where a batch has rows of several."""
    position = Position(table_info("id BIGINT"), {BucketId(None, 0): 5, BucketId(None, 1): 7})
    position.advance(pa.record_batch({"id": [1, 2, 3], "_bucket": [0, 0, 2], "_offset": [5, 6, 9]}))
    assert position.offsets == {BucketId(None, 0): 7, BucketId(None, 1): 7, BucketId(None, 2): 10}


def test_text_says_the_same_again() -> None:
    """A page sends back what it was given."""
    offsets = {BucketId("2026$eu-1", 0): 12, BucketId("2026$eu-1", 1): 0}
    text = Position(table_info("id BIGINT"), offsets).to_text()
    assert text is not None
    assert offsets_of_text(text) == offsets


def test_many_buckets_do_not_go_into_an_address() -> None:
    """Nor does anybody get to send them."""
    many = {BucketId(None, number): 1 for number in range(BUCKETS_MAX + 1)}
    assert Position(table_info("id BIGINT"), many).to_text() is None
    with pytest.raises(LakewardError):
        offsets_of_text("!".join(f"{number}~1" for number in range(BUCKETS_MAX + 1)))


@pytest.mark.parametrize("text", ["x", "1", "1~", "~1~1", "1~-1", "1~1!", "a~b~c", "1~" + "9" * 30])
def test_other_texts_are_refused(text: str) -> None:
    """What no page has sent."""
    with pytest.raises(LakewardError, match="no position"):
        offsets_of_text(text)
