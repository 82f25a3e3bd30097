"""lakeward users: create, passwd, list, drop."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli.commands.access.user_files import new_password, users_in, users_to_change
from lakeward.cli.input.command_tree import Verbs
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.parameters import confirm
from lakeward.cli.output.listing import moment, output_option, say, show_listing
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy


def _kept_name(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """A name as it is kept, however it was typed."""
    from lakeward.server.access.known.user_names import checked_name

    return checked_name(name)


_name = click.argument("name", callback=_kept_name)
_data_dir = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("lakeward-data"),
    show_default=True,
    help="The data directory of the server, which may run meanwhile.",
)
_password_file = click.option(
    "--password-file", metavar="FILE", help="Where the password is, mode 0600; - is stdin. Without it, it is asked for."
)


@click.group(cls=Verbs)
def users() -> None:
    """Users who may log in where a listener asks for it.

    They are kept in the data directory of the server, passwords salted and hashed. A change holds from the next login
    on, without a restart; whoever was logged in as a user that is gone, or has another password now, is sent away.
    """


@users.command("create")
@_name
@_password_file
@_data_dir
def create_user(name: str, password_file: str | None, data_dir: Path) -> None:
    """Make a user.

    \b
    Examples:
      lakeward users create alice
      lakeward users create alice --password-file alice.password --data-dir /var/lib/lakeward
    """
    from lakeward.server.access.known.users import new_user

    made = new_user(new_password(password_file), SystemEntropy(), SystemClock().now_ms())
    with users_to_change(data_dir) as known:
        if name in known:
            raise Failure(f"There is a user {name} already; `lakeward users passwd {name}` gives a new password.")
        known[name] = made
    say(f"Made user {name}.")


@users.command()
@_name
@_password_file
@_data_dir
def passwd(name: str, password_file: str | None, data_dir: Path) -> None:
    """Give a user another password.

    \b
    Example:
      lakeward users passwd alice
    """
    from lakeward.server.access.known.users import new_user

    if name not in users_in(data_dir):
        raise _unknown(name, data_dir)
    now_ms = SystemClock().now_ms()
    changed = new_user(new_password(password_file), SystemEntropy(), now_ms)
    with users_to_change(data_dir) as known:
        if name not in known:
            raise _unknown(name, data_dir)
        known[name] = changed.since(known[name].created_ms)
    say(f"User {name} has a new password.")


@users.command("list")
@output_option()
@_data_dir
def list_users(output: str, data_dir: Path) -> None:
    """List the users, without anything of their passwords; those whom options name are not among them.

    \b
    Examples:
      lakeward users list
      lakeward users list -o json --data-dir /var/lib/lakeward
    """
    rows = [
        {"user": name, "created": moment(user.created_ms), "password_changed": moment(user.changed_ms)}
        for name, user in sorted(users_in(data_dir).items())
    ]
    show_listing(rows, ["user", "created", "password_changed"], output, "There are no users.")


@users.command("drop")
@_name
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_data_dir
def drop_user(name: str, yes: bool, data_dir: Path) -> None:
    """Drop a user; grants of that name stay, for whoever has the name next.

    \b
    Example:
      lakeward users drop alice --yes
    """
    if name not in users_in(data_dir):
        raise _unknown(name, data_dir)
    confirm(f"Drop user {name}?", yes)
    with users_to_change(data_dir) as known:
        if known.pop(name, None) is None:
            raise _unknown(name, data_dir)
    say(f"User {name} is gone.")


def _unknown(name: str, data_dir: Path) -> Failure:
    return Failure(f"There is no user {name} in {data_dir}.")
