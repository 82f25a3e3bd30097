"""Credentials: who a person is to the server. A password never stands on the command line, where others could read it.

It is looked for in the file that LAKEWARD_PASSWORD_FILE names, then in LAKEWARD_PASSWORD; where neither is set, a
person at a terminal is asked. Options name where it is, not what it is, so they may travel to other processes, which
inherit the environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from lakeward.options import client as rows
from lakeward.options.secrets import is_of_secret, is_reference

USER_VARIABLE = "LAKEWARD_USER"
PASSWORD_VARIABLE = "LAKEWARD_PASSWORD"  # noqa: S105 - the name of a variable
PASSWORD_FILE_VARIABLE = "LAKEWARD_PASSWORD_FILE"  # noqa: S105 - the name of a variable
CA_FILE_VARIABLE = "LAKEWARD_CA_FILE"


@dataclass(slots=True)
class Credentials:
    """A user, and options of the client that were given on the command line."""

    user: str | None = None
    given: dict[str, str] = field(default_factory=dict)

    def options(self) -> dict[str, str]:
        """Options of the client; a person is asked for a password that is nowhere to be found, once."""
        found = dict(self.given)
        ca_file = os.environ.get(CA_FILE_VARIABLE)
        if ca_file:
            found.setdefault(rows.TLS_CA.key, str(Path(ca_file).absolute()))
        if self.user:
            found[rows.SASL_USERNAME.key] = self.user
        if rows.SASL_USERNAME.key in found and rows.SASL_PASSWORD.key not in found:
            found[rows.SASL_PASSWORD.key] = self._password(found[rows.SASL_USERNAME.key])
        return found

    @property
    def would_ask(self) -> bool:
        """Whether a person would have to type the password."""
        user = self.user or self.given.get(rows.SASL_USERNAME.key)
        known = PASSWORD_FILE_VARIABLE in os.environ or PASSWORD_VARIABLE in os.environ
        return bool(user) and not known and rows.SASL_PASSWORD.key not in self.given

    def _password(self, user: str) -> str:
        """Where the password is."""
        file = os.environ.get(PASSWORD_FILE_VARIABLE)
        if file:
            return f"file:{Path(file).absolute()}"
        if PASSWORD_VARIABLE not in os.environ:
            # Whatever this command starts, such as Spark and its processes, finds it where it would have been.
            os.environ[PASSWORD_VARIABLE] = _ask_password(user)
        return f"${{env:{PASSWORD_VARIABLE}}}"


def check_no_secret(options: Mapping[str, str], where: str) -> None:
    """Refuse secrets on the command line: everybody on this machine can list its processes."""
    for key, value in options.items():
        row = rows.CLIENT_OPTIONS.rows.get(key)
        if (is_of_secret(key) or (row is not None and row.secret)) and not is_reference(value):
            raise click.UsageError(
                f"{where} {key}=… would show a secret to everybody who lists the processes of this machine: give "
                f"${{env:NAME}} or file:/path, or the password of --user in {PASSWORD_VARIABLE} or in the file that "
                f"{PASSWORD_FILE_VARIABLE} names."
            )


def _ask_password(user: str) -> str:
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"There is no password for '{user}', and nobody can be asked here: set {PASSWORD_VARIABLE}, or name a "
            f"file with {PASSWORD_FILE_VARIABLE}."
        )
    text: str = click.prompt(f"Password of {user}", hide_input=True, err=True)
    return text
