"""Users whom options name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.runtime.secret_text import SecretText
from lakeward.server.access.known.configured_users import configured_users, first_user

JAAS, PAIRS = "security.sasl.plain.jaas.config", "security.sasl.plain.credentials"
OWN = "security.sasl.listener.name.client.plain.jaas.config"


def test_a_listener_has_its_own_or_everybodys(tmp_path: Path) -> None:
    """And those of the pairs in any case, who win; a reference is looked up."""
    kept = tmp_path / "pairs"
    kept.write_text("bob:third\n")
    kept.chmod(0o600)
    settings = {
        JAAS: 'x required user_alice="first" user_bob="first";',
        OWN: 'x required user_carol="second";',
        PAIRS: f"file:{kept}",
    }
    assert configured_users(settings, "FLUSS") == {"alice": "first", "bob": "third"}
    assert configured_users(settings, "CLIENT") == {"carol": "second", "bob": "third"}
    assert configured_users({}, "CLIENT") == {}


@pytest.mark.parametrize(
    "pairs", ["hush", "hush:", "alice:hush,alice:hush", "a b:hush", ",", "alice:x,hush", "alice:hush\x07"]
)
def test_pairs_that_cannot_be_read_are_not_shown(pairs: str) -> None:
    """A password with a comma in it looks like a name."""
    with pytest.raises(LakewardError, match=PAIRS) as refused:
        configured_users({PAIRS: pairs}, "FLUSS")
    assert "hush" not in refused.value.message


def test_the_first_user_is_a_name_and_a_password() -> None:
    """The password may have colons."""
    assert first_user(SecretText("k", "root:a:b\n")) == ("root", "a:b")
    with pytest.raises(LakewardError, match="name:password") as refused:
        first_user(SecretText("k", "hush"))
    assert "hush" not in refused.value.message
