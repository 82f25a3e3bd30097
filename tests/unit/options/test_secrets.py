"""What of settings may be told."""

from __future__ import annotations

import pytest

from lakeward.options.secrets import without_secret_options


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("WITH ('password' = 'hush')", "WITH ('password' = '******')"),
        (
            "WITH ('a' = 'b', 's3.secret-key'='it''s', 'c' = 'd')",
            "WITH ('a' = 'b', 's3.secret-key'='******', 'c' = 'd')",
        ),
        ("SET 'client.security.sasl.password' = ''", "SET 'client.security.sasl.password' = '******'"),
        ("SELECT 'it''s' AS a WHERE b = 'password'", "SELECT 'it''s' AS a WHERE b = 'password'"),
    ],
)
def test_options_of_a_statement_lose_their_secrets(sql: str, told: str) -> None:
    """Whatever sounds like one; all else stays as it is."""
    assert without_secret_options(sql) == told
