"""What the temporary keys of clients may do."""

from __future__ import annotations

import json

import pytest

from lakeward.remote.s3.read_policy import read_policy


def test_clients_read_segments_and_snapshots_only() -> None:
    """Two statements: objects below log and kv, and listings of them."""
    assert read_policy("shop", "a/b", "eu-west-1") == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["s3:GetObject"],
                "Resource": ["arn:aws:s3:::shop/a/b/log/*", "arn:aws:s3:::shop/a/b/kv/*"],
            },
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": ["arn:aws:s3:::shop"],
                "Condition": {"StringLike": {"s3:prefix": ["a/b/log/*", "a/b/kv/*"]}},
            },
        ],
    }


@pytest.mark.parametrize(
    ("prefix", "region", "expected"),
    [
        ("", "us-east-1", "arn:aws:s3:::shop/log/*"),
        ("x", "cn-north-1", "arn:aws-cn:s3:::shop/x/log/*"),
        ("x", "us-gov-west-1", "arn:aws-us-gov:s3:::shop/x/log/*"),
        ("a*?", "us-east-1", "arn:aws:s3:::shop/a${*}${?}/log/*"),
    ],
)
def test_the_prefix_means_itself_in_every_part_of_aws(prefix: str, region: str, expected: str) -> None:
    """A star in a prefix opens no other; China and the government have names of their own."""
    assert expected in json.dumps(read_policy("shop", prefix, region))


def test_the_policy_is_short_enough_for_sts() -> None:
    """STS takes 2048 characters."""
    assert len(json.dumps(read_policy("b" * 63, "p" * 200, "us-east-1"), separators=(",", ":"))) < 2048
