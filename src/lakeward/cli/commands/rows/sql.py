"""lakeward sql: ask a question of tables, hot and cold together."""

from __future__ import annotations

from typing import Any

import click

from lakeward.cli.commands.rows.sql_serve import sql_serve
from lakeward.cli.input.lake_read import lake_read_options, read_options
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say


class _Asked(click.Group):
    """A question, or, where the first word is its name, a command: `lakeward sql serve` asks nothing."""

    #: A group would take what follows the question for words of a command.
    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of a command for later."""
        if args[:1] and args[0] in self.commands:
            ctx.meta[__name__] = args
            return super().parse_args(ctx, [])
        rest = click.Command.parse_args(self, ctx, args)
        if rest:
            raise click.UsageError(f"Got unexpected extra arguments ({' '.join(rest)})", ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named, or answer the question."""
        words = ctx.meta.get(__name__)
        if words is None:
            return super().invoke(ctx)
        command = self.commands[words[0]]
        with command.make_context(words[0], words[1:], parent=ctx) as below:
            return command.invoke(below)


@click.group(cls=_Asked, invoke_without_command=True, commands=[sql_serve], subcommand_metavar="")
@click.argument("query", required=False)
@lake_read_options
@click.option("--skip-damaged", is_flag=True, help="Leave out rows that cannot be read, and say which.")
@output_option("table", "json", "csv")
@on_server
def sql(
    session: Session,
    query: str | None,
    warehouse: str | None,
    properties: dict[str, str],
    as_of: str | None,
    snapshot: str | None,
    skip_damaged: bool,
    output: str,
) -> None:
    """Ask a question of tables: lake and log as one, by DuckDB on this machine.

    Tables are named db.table; "db.table$lake" is the cold part alone. SHOW TABLES and DESCRIBE work too. Without a
    question it is a shell. Needs the extra `duckdb`. `lakeward shell` also writes, with streams and
    jobs, on Spark.

    \b
    Examples:
      lakeward sql
      lakeward sql "SELECT item, sum(amount) FROM shop.orders GROUP BY 1"
      lakeward sql "SELECT count(*) FROM shop.orders" --as-of 2026-11-01T10:00:00Z
      lakeward sql 'SELECT count(*) FROM shop."orders$lake"' --warehouse ./lake
    """
    from lakeward.cli.commands.rows.sql_shell import run_shell, run_statement
    from lakeward.cli.output.row_output import row_output

    options = read_options(warehouse, properties, as_of, snapshot)
    options |= {"scan.skip-damaged": "true"} if skip_damaged else {}
    with session.connect() as connection:

        def ask(statement: str) -> None:
            found = connection.sql(statement, options)
            if output == "table" and not found.num_rows:
                say("No rows.")
                return
            row_output(output, found.schema).write(found)

        if query is None:
            run_shell(connection, ask, output)
        else:
            run_statement(connection, query.strip().removesuffix(";").rstrip(), ask, output)
