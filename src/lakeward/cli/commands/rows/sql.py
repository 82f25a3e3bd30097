"""lakeward sql: ask a question of tables, hot and cold together."""

from __future__ import annotations

import click

from lakeward.cli.input.lake_read import lake_read_options, read_options
from lakeward.cli.input.session import Session, on_server
from lakeward.cli.output.listing import output_option, say


@click.command()
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
