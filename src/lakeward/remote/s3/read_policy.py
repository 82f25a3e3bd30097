"""The policy of a client's temporary keys: read segments and snapshots, nothing else. Pure."""

from __future__ import annotations

#: What clients read. The server's own files beside them, such as backups of its metadata, are not for them.
_READABLE = ("log", "kv")

_READ = ("s3:GetObject",)
_WRITE = ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")


def read_policy(bucket: str, prefix: str, region: str) -> dict[str, object]:
    """Reads and listings below the readable directories of a prefix."""
    root = f"{_literal(prefix)}/" if prefix else ""
    return _policy(bucket, [f"{root}{directory}/*" for directory in _READABLE], region)


def folder_policy(bucket: str, prefix: str, region: str, *, writes: bool = False) -> dict[str, object]:
    """Reads and listings below one prefix; writes as well, if asked for."""
    return _policy(bucket, [f"{_literal(prefix)}/*"], region, _READ + (_WRITE if writes else ()))


def _policy(bucket: str, below: list[str], region: str, actions: tuple[str, ...] = _READ) -> dict[str, object]:
    bucket_arn = f"arn:{_partition(region)}:s3:::{bucket}"
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": list(actions), "Resource": [f"{bucket_arn}/{path}" for path in below]},
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": [bucket_arn],
                "Condition": {"StringLike": {"s3:prefix": below}},
            },
        ],
    }


def _literal(prefix: str) -> str:
    """A prefix whose stars and question marks mean themselves."""
    return "".join({"*": "${*}", "?": "${?}", "$": "${$}"}.get(character, character) for character in prefix)


def _partition(region: str) -> str:
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"
