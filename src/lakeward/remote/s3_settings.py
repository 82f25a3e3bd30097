"""S3Settings: how a bucket is reached, under the property names people know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_NAMES = {
    "s3.endpoint": ("s3.endpoint", "fs.s3a.endpoint"),
    "s3.region": ("s3.region", "fs.s3a.endpoint.region", "fs.s3a.region"),
    "s3.access-key": ("s3.access-key", "s3.access.key", "fs.s3a.access.key"),
    "s3.secret-key": ("s3.secret-key", "s3.secret.key", "fs.s3a.secret.key"),
    "s3.session-token": ("s3.session-token", "s3.session.token", "fs.s3a.session.token"),
    "s3.path-style-access": ("s3.path-style-access", "s3.path.style.access", "fs.s3a.path.style.access"),
}


@dataclass(frozen=True)
class S3Settings:
    """How a bucket is reached."""

    endpoint: str | None = None
    region: str = "us-east-1"
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    path_style: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> S3Settings:
        """From properties; of several names for one thing the first wins."""
        found = {key: _first(settings, names) for key, names in _NAMES.items()}
        return cls(
            endpoint=found["s3.endpoint"],
            region=found["s3.region"] or "us-east-1",
            access_key=found["s3.access-key"],
            secret_key=found["s3.secret-key"],
            session_token=found["s3.session-token"],
            path_style=(found["s3.path-style-access"] or "false").strip().lower() == "true",
        )


def _first(settings: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((settings[name] for name in names if settings.get(name)), None)


def canonical(settings: Mapping[str, str]) -> dict[str, str]:
    """The same properties, those of a bucket under our own names; of several names for one thing the first wins."""
    ours = {key: value for key, names in _NAMES.items() if (value := _first(settings, names)) is not None}
    aliases = {name for names in _NAMES.values() for name in names}
    return {key: value for key, value in settings.items() if key not in aliases} | ours
