"""Options as users of Apache Fluss write them, and as Python writes them."""

from __future__ import annotations

import pytest

from lakeward.client.forms.settings import ClientSettings
from lakeward.errors import ErrorCode, LakewardError


def test_both_spellings_mean_the_same() -> None:
    """`client.writer.acks` and `writer_acks` are one option."""
    official = ClientSettings.of({"client.writer.acks": "1", "client.writer.batch-size": "4mb"})
    python = ClientSettings.of({"writer_acks": 1, "writer_batch_size": "4mb"})
    assert official == python
    assert (python.acks, python.batch_bytes) == (1, 4 << 20)


def test_nothing_given_is_every_default() -> None:
    """The defaults of the class are the defaults of the options, but for larger fetches."""
    assert ClientSettings.of({}) == ClientSettings()


def test_all_acks_are_minus_one_on_the_wire() -> None:
    """`all` is the default and the name for -1."""
    assert ClientSettings.of({"writer_acks": "all"}).acks == -1


def test_switches_take_python_booleans() -> None:
    """True and False need no quotes."""
    settings = ClientSettings.of({"writer_enable_idempotence": False, "scanner_log_check_crc": False})
    assert not settings.idempotent
    assert not settings.check_crc


def test_a_fetch_size_that_was_given_is_used() -> None:
    """Only where the user says nothing do we choose."""
    settings = ClientSettings.of({"scanner_log_fetch_max_bytes_for_bucket": "1mb"})
    assert settings.bucket_fetch_bytes_max == 1 << 20


@pytest.mark.parametrize("options", [{"writer_akcs": "all"}, {"client.writer.acks": "2"}, {"writer_batch_size": "big"}])
def test_what_cannot_be_understood_is_refused(options: dict) -> None:
    """A misspelled option or a wrong value fails at connect, not silently."""
    with pytest.raises(LakewardError) as caught:
        ClientSettings.of(options)
    assert caught.value.code is ErrorCode.INVALID_CONFIG
