"""Options of the Spark connector."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.options import reference
from lakeward.options import spark as rows

ROOT = Path(__file__).parents[3]


def test_names_are_found_whatever_their_case() -> None:
    """Spark lowers the case of option names; ours come back as they are written."""
    given = {"maxrowspertrigger": "5", "FAILONDATALOSS": "false", "Client.Writer.Acks": "all"}
    options = rows.connector_options(given)
    assert options == {"maxRowsPerTrigger": "5", "failOnDataLoss": "false", "client.writer.acks": "all"}
    assert rows.client_options(options) == {"client.writer.acks": "all"}


def test_names_of_other_connectors_are_understood() -> None:
    """`path`, `group.id`, `startingOffsets` and `maxOffsetsPerTrigger` mean what one expects."""
    given = {"path": "shop.orders", "group.id": "g", "startingoffsets": "latest", "maxoffsetspertrigger": "7"}
    assert rows.connector_options(given) == {
        "table": "shop.orders",
        "properties.group.id": "g",
        "scan.startup.mode": "latest",
        "maxRowsPerTrigger": "7",
    }


def test_sparks_own_options_are_passed_over() -> None:
    """What Spark hands over for itself is no mistake of the user."""
    assert rows.connector_options({"checkpointlocation": "/tmp/x", "queryname": "q"}) == {}
    assert rows.connector_options({"option.table": "a.b", "table": "a.b"}) == {"table": "a.b"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"scan.startup.modus": "full"}, "'scan.startup.modus' is not an option of the Spark connector; did you mean"),
        ({"maxRowPerTrigger": "1"}, "did you mean 'maxRowsPerTrigger'?"),
        ({"client.writer.ack": "1"}, "did you mean 'client.writer.acks'?"),
        ({"maxRowsPerTrigger": "0"}, "The option 'maxRowsPerTrigger' is wrong: 0 is not between 1 and"),
        ({"scan.startup.mode": "oldest"}, "'oldest' is not one of full, earliest, latest, timestamp, group."),
        ({"scan.startup.timestamp": "yesterday"}, "is neither milliseconds since 1970 nor a time such as"),
        ({"scan.startup.mode": "timestamp"}, "needs the option 'scan.startup.timestamp' too"),
        ({"scan.startup.mode": "group"}, "needs the option 'properties.group.id' too"),
        ({"path": "a.b", "table": "a.c"}, "The option 'table' is given twice, with different values."),
        ({"failOnDataLoss": "no"}, "The option 'failOnDataLoss' is wrong: 'no' is neither true nor false."),
    ],
)
def test_mistakes_are_told_in_one_sentence(given: dict[str, str], sentence: str) -> None:
    """Which option, what is wrong with it, and what would be right."""
    with pytest.raises(LakewardError) as refused:
        rows.connector_options(given)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_times_are_milliseconds_or_iso() -> None:
    """A time without a zone is UTC."""
    assert rows.TIME.parse("1000") == 1000
    assert rows.TIME.parse("1970-01-01T00:00:01Z") == 1000
    assert rows.TIME.parse("1970-01-01T00:00:01") == 1000
    assert rows.TIME.parse("1970-01-01T01:00:01+01:00") == 1000


def test_secrets_are_never_shown() -> None:
    """Passwords of the client and whatever looks like a secret are starred out; where one is kept is not."""
    given = {
        "client.security.sasl.username": "ann",
        "client.security.sasl.PASSWORD": "p",
        "client.security.sasl.jaas.config": "${env:JAAS}",
        "client.security.unheard-of": "x",
        "fs.s3a.secret.key": "k",
        "table": "a.b",
        "x.TOKEN": "t",
    }
    assert rows.redact(given) == {
        "client.security.sasl.username": "ann",
        "client.security.sasl.PASSWORD": "*****",
        "client.security.sasl.jaas.config": "${env:JAAS}",
        "client.security.unheard-of": "*****",
        "fs.s3a.secret.key": "*****",
        "table": "a.b",
        "x.TOKEN": "*****",
    }


def test_every_option_and_alias_is_on_the_page() -> None:
    """docs/reference/spark.md says all that may be set."""
    page = (ROOT / reference.SPARK_PAGE).read_text(encoding="utf-8")
    assert page == reference.spark_page()
    for key in (*rows.SPARK_OPTIONS.rows, *rows.SPARK_OPTIONS.aliases):
        assert f"`{key}`" in page
