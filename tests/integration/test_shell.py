"""`lakeward shell` in a terminal, by hand."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from eventually import eventually
from script_runs import FAST
from server_process import ServerProcess
from shell_person import ShellPerson
from terminal import CTRL_C

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
#: Spark cannot start with this, so that nothing waits for it.
_NO_SPARK = ("-D", "spark.driver.memory=1b")
_SMALL = (*FAST, "-D", "spark.sql.shuffle.partitions=2")
_CTRL_D, _UP, _CTRL_R, _CTRL_Z = b"\x04", b"\x1b[A", b"\x12", b"\x1a"


@pytest.fixture(scope="module")
def plain_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellPerson]:
    """A shell without Spark and without a server."""
    with ShellPerson(*_NO_SPARK, "-s", "localhost:1", state=tmp_path_factory.mktemp("plain")) as shell:
        assert shell.is_asked(), shell.text
        yield shell


@pytest.fixture
def plain(plain_shell: ShellPerson) -> ShellPerson:
    """The same, at an empty prompt, with no settings."""
    plain_shell.forget()
    plain_shell.ask("RESET;")
    return plain_shell


@pytest.fixture(scope="module")
def spark_shell(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellPerson]:
    """One shell with Spark for all tests that need it."""
    with ShellPerson("-s", server.bootstrap, *_SMALL, state=tmp_path_factory.mktemp("state")) as shell:
        assert shell.is_asked(), shell.text
        yield shell
        shell.forget()
        shell.type("exit\r")
        assert shell.ended() == 0, shell.text
        assert eventually(lambda: not shell.left()), shell.left()
    assert "Traceback" not in shell.text


@pytest.fixture
def shell(spark_shell: ShellPerson) -> ShellPerson:
    """The same, at an empty prompt, with no settings."""
    spark_shell.forget()
    spark_shell.ask("RESET;")
    return spark_shell


def test_what_needs_no_spark_is_answered_without_it(plain: ShellPerson) -> None:
    """Spark cannot start here; a statement that needs it says so in a sentence, and the shell goes on."""
    assert "default_catalog" in plain.ask("SHOW CATALOGS;")
    assert "pipeline.name = a" in plain.ask("SET 'pipeline.name' = 'a';")
    plain.ask("CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'blackhole');")
    assert "BIGINT" in plain.ask("DESCRIBE t;")
    told = plain.ask("SELECT 1;")
    assert "Spark did not start" in told
    assert "Cannot connect to localhost:1" in plain.ask("SHOW TABLES FROM fluss.fluss;")
    assert "default_catalog" in plain.ask("SHOW CURRENT CATALOG;")
    assert "Traceback" not in plain.text


def test_a_statement_goes_over_lines_until_it_is_whole(plain: ShellPerson) -> None:
    """A semicolon in quotes ends nothing."""
    plain.type("SET 'pipeline.name'\r= 'a;\rb'\r")
    assert plain.sees("...>")
    assert "pipeline.name = a;" in plain.ask(";")


def test_ctrl_c_forgets_what_is_typed(plain: ShellPerson) -> None:
    """Once, twice, and with nothing typed."""
    plain.type("SELECT nonsense")
    plain.forget()
    plain.forget()
    assert "default_catalog" in plain.ask("SHOW CATALOGS;")


def test_an_error_shows_the_line_and_a_caret(plain: ShellPerson) -> None:
    """Of several statements those behind it are not run."""
    told = plain.ask("SHOW CATALOGS; SHOW CATALOGUES; SHOW CATALOGS;")
    assert "Line 1, column 21" in told
    assert "SHOW CATALOGS; SHOW CATALOGUES; SHOW CATALOGS;\n                      ^" in told
    assert told.count("default_catalog") == 1
    assert "1 more of what was typed was not run" in told


def test_tab_completes(plain: ShellPerson) -> None:
    """Keywords, tables, columns behind an alias, settings."""
    plain.ask("CREATE TABLE wares (id BIGINT, price_in_francs INT) WITH ('connector' = 'blackhole');")
    for typed, completed in (("descr", "describe"), (" war", "wares")):
        assert plain.completes(typed, completed), plain.screen
    assert "price_in_francs" in plain.ask(";")
    for typed, completed in (("SET 'execution.runtime-m", "mode'"), (" = 'str", "streaming'")):
        assert plain.completes(typed, completed), plain.screen
    assert "execution.runtime-mode = streaming" in plain.ask(";")
    assert plain.completes("EXPLAIN SELECT * FROM wares AS w WHERE w.price", "price_in_francs"), plain.screen


def test_what_was_typed_is_remembered_by_the_next_shell(tmp_path: Path) -> None:
    """By arrow and by search; what holds a password is not."""
    for number in (1, 2):
        with ShellPerson(*_NO_SPARK, "-s", "localhost:1", state=tmp_path) as shell:
            assert shell.is_asked()
            if number == 1:
                shell.ask("SET 'pipeline.name' = 'first';")
                shell.ask("SET 'pipeline.name' = 'second';")
                shell.ask("SET 'client.password' = 'hush';")
            else:
                shell.press(_UP)
                assert "pipeline.name = second" in shell.ask("")
                shell.press(_CTRL_R)
                shell.type("'first")
                assert shell.sees("'pipeline.name' = 'first'")
                shell.press(b"\r")
                assert "pipeline.name = first" in shell.ask("")
            shell.type("exit\r")
            assert shell.ended() == 0
    assert "hush" not in (tmp_path / "shell-history").read_text()
    assert (tmp_path / "shell-history").stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_a_paste_is_run_as_a_whole(tmp_path: Path) -> None:
    """200 lines of one statement, several statements, and a statement of a megabyte."""
    with ShellPerson(*_NO_SPARK, "-s", "localhost:1", state=tmp_path) as plain:
        assert plain.is_asked()
        columns = ",\n".join(f"  c{number} BIGINT" for number in range(198))
        plain.type(f"\x1b[200~CREATE TABLE wide (\n{columns}\n) WITH ('connector' = 'blackhole');\n\x1b[201~")
        plain.ask("")
        assert "c197" in plain.ask("DESCRIBE wide;")
        told = plain.ask("\x1b[200~SHOW CATALOGS;\nSHOW CURRENT DATABASE;\n\x1b[201~")
        assert "default_database" in told
        plain.type("\x1b[200~SET 'pipeline.name' = '" + "x" * 1_000_000 + "';\x1b[201~")
        plain.ask("")
        assert "default_catalog" in plain.ask("SHOW CATALOGS;")


def test_lines_that_are_no_text_are_told(plain: ShellPerson) -> None:
    """And the next one is read."""
    plain.press(b"SET 'pipeline.name' = '\xff\xfe';\r")
    assert plain.sees("not UTF-8")
    assert "default_catalog" in plain.ask("SHOW CATALOGS;")


@pytest.mark.long
def test_a_terminal_that_knows_no_cursor_is_asked_plainly(tmp_path: Path) -> None:
    """No escapes at all."""
    with ShellPerson(*_NO_SPARK, "-s", "localhost:1", state=tmp_path, TERM="dumb") as shell:
        assert shell.is_asked()
        shell.type("SHOW\rCATALOGS;\r")
        assert shell.sees("default_catalog")
        assert shell.is_asked()
        shell.press(_CTRL_D)
        assert shell.ended() == 0
    assert "\x1b" not in shell.text


@pytest.mark.long
def test_ctrl_c_in_the_first_moments(tmp_path: Path) -> None:
    """Before the prompt it ends the program; after it, only the line; nothing is left of it in the end."""
    for moment_s in (0.1, 0.4, 1.0):
        with ShellPerson("-s", "localhost:1", state=tmp_path) as shell:
            time.sleep(moment_s)
            shell.press(CTRL_C + CTRL_C)
            if shell.wait_until(lambda _, s=shell: s.screen.rstrip().endswith("lakeward>"), 20):
                shell.press(_CTRL_D)
            assert shell.ended() in {0, 130}, shell.text
            # Before our first line Python itself shows a trace, of its own files.
            assert "Traceback" not in shell.text or "lakeward/" not in shell.text, shell.text
            assert eventually(lambda s=shell: not s.left()), shell.left()


def test_what_comes_by_a_pipe_is_run_as_a_script(server: ServerProcess, tmp_path: Path) -> None:
    """With an error in it, exit code 1."""
    from cli_process import Cli

    cli = Cli(server.bootstrap, tmp_path)
    done = cli.run("shell", *_NO_SPARK, stdin="SHOW CATALOGS;\nSHOW NONSENSE;\n")
    assert done.returncode == 1
    assert "Spark did not start" in done.stderr or "line 2" in done.stderr.lower()


def test_the_session_of_the_guide(shell: ShellPerson) -> None:
    """What docs/guides/shell.md shows is what one sees."""
    page = (Path(__file__).parents[2] / "docs/guides/shell.md").read_text()
    session = page.partition("$ lakeward shell\n")[2].partition("```")[0]
    steps = session.split("lakeward> ")[1:]
    assert len(steps) == 7
    for step in steps:
        statement, _, expected = step.partition("\n")
        assert expected in shell.ask(statement), statement


def test_ctrl_c_ends_a_query_and_not_the_shell(shell: ShellPerson, server: ServerProcess) -> None:
    """The next one is answered."""
    shell.ask("CREATE TABLE many (n BIGINT) WITH ('bucket.num' = '2');")
    with lw.connect(server.bootstrap) as connection:
        connection.table("fluss.many").append([{"n": number} for number in range(4000)])
    shell.type("SELECT COUNT(*) FROM many a, many b, many c WHERE a.n + b.n + c.n < 0;\r")
    assert shell.sees("Running … 3 s")
    shell.press(CTRL_C)
    assert shell.sees("Stopped.", within_s=60), shell.screen
    assert shell.is_asked()
    assert "… and 3,000 more rows" in shell.ask("SELECT n FROM many;")


def test_a_view_changes_as_rows_come(shell: ShellPerson, server: ServerProcess) -> None:
    """Another process writes; Ctrl-C ends the view and leaves the last state."""
    shell.ask("CREATE TABLE viewed (id BIGINT, item STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket.num' = '1');")
    shell.ask("INSERT INTO viewed VALUES (1, 'boots'), (2, 'tent');")
    shell.ask("SET 'execution.runtime-mode' = 'streaming';")
    shell.type("SELECT item, COUNT(*) AS n FROM viewed GROUP BY item;\r")
    assert shell.sees("2 rows", "boots  1", "tent   1"), shell.screen
    with lw.connect(server.bootstrap) as connection:
        table = connection.table("fluss.viewed")
        table.upsert([{"id": number, "item": "tent"} for number in range(3, 13)])
        assert shell.sees("tent   11"), shell.screen
        table.delete([{"id": 1}])
        assert shell.sees("1 row "), shell.screen
    shell.press(CTRL_C)
    assert shell.sees("(1 row after"), shell.screen
    assert "item   n\ntent  11\n(1 row after" in shell.screen
    assert shell.is_asked()


@pytest.mark.long
def test_a_job_goes_on_behind_the_prompt(server: ServerProcess, tmp_path: Path) -> None:
    """Ctrl-D asks once; ended with the shell, it goes on where it was in the next one."""
    state = tmp_path / "state"
    names = ("-s", server.bootstrap, *_SMALL)
    create = "".join(
        f"CREATE TABLE {name} (id BIGINT, item STRING) WITH ('bucket.num' = '1'); " for name in ("jobs_in", "jobs_out")
    )
    insert = "INSERT INTO jobs_out SELECT id, item FROM jobs_in;"
    with ShellPerson(*names, state=state) as shell:
        assert shell.is_asked()
        shell.ask(create)
        shell.ask("INSERT INTO jobs_in VALUES (1, 'a'), (2, 'b');")
        shell.ask("SET 'pipeline.name' = 'copy';")
        assert "Job copy begins." in shell.ask(insert)
        assert eventually(lambda: "2" in shell.ask("SELECT COUNT(*) FROM jobs_out;").split(), within_s=120)
        assert "running" in shell.ask("SHOW JOBS;")
        shell.ask("SET 'pipeline.name' = 'faulty';")
        shell.ask("INSERT INTO jobs_out SELECT id, CAST(100 / (id - 2) AS STRING) FROM jobs_in;")
        assert eventually(lambda: "Job faulty failed" in shell.ask("SHOW JOBS;"), within_s=120)
        assert shell.gets(_CTRL_D, "With this shell end its jobs: copy", "[y/N]")
        assert shell.gets(b"n\r", "lakeward>")
        assert shell.gets(_CTRL_D, "[y/N]")
        shell.type("y\r")
        assert shell.ended(150) == 0  # a micro-batch that waits for Spark's workers may take its time
        assert "Job copy is stopped" in shell.text
        assert eventually(lambda: not shell.left()), shell.left()
    with lw.connect(server.bootstrap) as connection:
        connection.table("fluss.jobs_in").append([{"id": 3, "item": "c"}])
    with ShellPerson(*names, state=state) as shell:
        assert shell.is_asked()
        shell.ask(create)
        shell.ask("SET 'pipeline.name' = 'copy';")
        assert "Job copy goes on where it was." in shell.ask(insert)
        assert eventually(lambda: "3" in shell.ask("SELECT COUNT(*) FROM jobs_out;").split(), within_s=120)
        os.kill(shell.pid, signal.SIGTERM)
        assert shell.ended() == 128 + signal.SIGTERM
        assert eventually(lambda: not shell.left()), shell.left()
