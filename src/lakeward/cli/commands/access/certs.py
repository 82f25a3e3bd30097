"""lakeward certs: certificates to try encryption with."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import say
from lakeward.runtime.clock import SystemClock


@click.group(cls=Verbs)
def certs() -> None:
    """Certificates to try encryption with."""


@certs.command()
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("lakeward-certs"),
    show_default=True,
    help="Where they are written; an authority that is there already is kept.",
)
@click.option("--host", "hosts", multiple=True, help="A name or address of the server. [default: this machine's own]")
@click.option("--user", "users", multiple=True, metavar="NAME", help="Somebody who is to have a certificate, too.")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How long they are good.")
def dev(directory: Path, hosts: tuple[str, ...], users: tuple[str, ...], days: int) -> None:
    """Make an authority of your own, a certificate for a server, and for users if you like.

    For trying it out and for tests: the key of the authority lies beside the rest. Once more makes new certificates of
    the same authority, and a server that runs with them takes the new ones.

    \b
    Examples:
      lakeward certs dev
      lakeward certs dev --host db.example.org --host 10.0.0.7 --user alice
    """
    try:
        from lakeward.cli.commands.access.dev_authority import AUTHORITY, SERVER, DevAuthority
    except ModuleNotFoundError as missing:
        raise Failure(f"Certificates need the library {missing.name}: pip install 'lakeward[certs]'.") from missing

    authority = DevAuthority(directory, SystemClock(), days)
    authority.server(hosts or ("localhost", "127.0.0.1", "::1"))
    for user in users:
        authority.client(user)
    say(f"Certificates are in {directory}, good for {days} days. A server takes them with")
    say(
        f"  -D security.tls.certificate-file={authority.path(SERVER)} -D security.tls.key-file="
        f"{authority.path(SERVER, 'key')}"
    )
    say(f"clients trust it by client.security.tls.ca-file={authority.path(AUTHORITY)}")
