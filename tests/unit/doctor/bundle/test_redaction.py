"""What leaves holds no secret, and users are numbers."""

from __future__ import annotations

import json

from lakeward.doctor.bundle.redaction import Redaction, properties, secrets_of


def test_secrets_of_this_process_are_starred_wherever_they_stand() -> None:
    """Also where nobody would look for them."""
    secrets = secrets_of(
        {"client.security.sasl.password": "hush-4711"}, {"AWS_SECRET_ACCESS_KEY": "key-4711", "A": "b"}
    )
    text = Redaction(secrets).clean("the table hush-4711 of key-4711")
    assert text == "the table ****** of ******"


def test_settings_that_sound_secret_are_starred() -> None:
    """In whatever way they are written; where a secret is kept is no secret."""
    clean = Redaction([]).clean
    for told in (
        "s3.secret-key=abc",
        '"s3.secret-key": "abc"',
        "password: abc",
        "https://u:abc@h/",
        "https://h?token=abc",
    ):
        assert "abc" not in clean(told)
    assert clean("password=file:/etc/x") == "password=file:/etc/x"
    assert properties({"s3.secret-key": "abc", "table.log.ttl": "1 d"}) == {
        "s3.secret-key": "******",
        "table.log.ttl": "1 d",
    }


def test_users_are_numbers_that_stay_the_same() -> None:
    """Lines of one user can be told from those of another."""
    redaction = Redaction([])
    assert redaction.clean("User:alice, User:bob and User:alice") == "User:user-1, User:user-2 and User:user-1"
    line = {"time": "t", "event": "LOGIN", "principal": "User:alice", "peer": "10.0.0.7:4711", "note": "Alice's"}
    told = json.loads(redaction.audit_line(json.dumps(line)))
    assert told["principal"] == "user-1"
    assert "10.0.0.7" not in str(told)
    assert "note" not in told
    assert redaction.audit_line("no line") == ""
