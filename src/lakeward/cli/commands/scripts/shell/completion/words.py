"""Words of the shell: keywords of the language, commands of its own, and what is said to who asks for help."""

from __future__ import annotations

from typing import Final

#: Words that begin a statement.
FIRST_WORDS: Final = (
    *("SELECT", "INSERT INTO", "CREATE TABLE", "CREATE VIEW", "CREATE CATALOG", "CREATE DATABASE", "SHOW", "DESCRIBE"),
    *("USE", "USE CATALOG", "SET", "RESET", "DROP TABLE", "DROP VIEW", "DROP DATABASE", "DROP CATALOG", "ALTER TABLE"),
    *("UPDATE", "DELETE FROM", "MERGE INTO", "TRUNCATE TABLE", "EXPLAIN", "EXECUTE STATEMENT SET BEGIN", "WITH"),
    *("INSERT OVERWRITE", "CREATE TEMPORARY TABLE", "CREATE TEMPORARY VIEW", "STOP JOB", "VALUES"),
)
#: Words that follow SHOW.
SHOWN_WORDS: Final = (
    *("CATALOGS", "DATABASES", "TABLES", "VIEWS", "FUNCTIONS", "JOBS", "COLUMNS FROM", "CREATE TABLE", "PARTITIONS"),
    *("CURRENT CATALOG", "CURRENT DATABASE"),
)
#: Commands of the shell, which need no semicolon.
EXITS: Final = frozenset({"exit", "quit", r"\q"})
HELPS: Final = frozenset({"help", r"\?", r"\h", "?"})
CLEARS: Final = frozenset({"clear", r"\c"})

_OTHERS = """
ADD ALL AND ANY ARRAY AS ASC BEGIN BETWEEN BIGINT BINARY BOOLEAN BUCKETS BY CASCADE CASE CAST CATALOG CATALOGS CHAR
COLUMNS COMMENT CROSS CUBE CURRENT DATABASE DATABASES DATE DAY DECIMAL DESC DESCRIPTOR DISTINCT DISTRIBUTED DOUBLE ELSE
END ENFORCED EXCEPT EXISTS EXTENDED FALSE FETCH FILTER FIRST FLOAT FOLLOWING FOR FROM FULL FUNCTIONS GROUP GROUPING
HAVING HOUR IF ILIKE IN INCLUDING INNER INT INTEGER INTERSECT INTERVAL INTO IS JOB JOBS JOIN KEY LAST LATERAL LEFT LIKE
LIMIT MAP MATCHED METADATA MINUTE MONTH NATURAL NOT NULL NULLS OF OFFSET ON OPTIONS OR ORDER OUTER OVER OVERWRITE
PARTITION PARTITIONED PARTITIONS PRECEDING PRIMARY RANGE RECURSIVE RENAME RIGHT ROLLUP ROW ROWS SECOND SEMI SETS
SMALLINT STATEMENT STOP STRING SYSTEM_TIME TABLE TABLES TEMPORARY THEN TIME TIMESTAMP TIMESTAMP_LTZ TINYINT TO TRUE
TRY_CAST TUMBLE HOP SESSION CUMULATE UNBOUNDED UNION USING VARBINARY VARCHAR VIEW VIEWS VIRTUAL WATERMARK WHEN WHERE
WINDOW WITHIN YEAR
"""
#: Every single word that is shown as one of the language.
KEYWORDS: Final = frozenset(word for phrase in (*FIRST_WORDS, _OTHERS) for word in phrase.split())

WELCOME: Final = "SQL on Spark, streams and tables: a statement ends with a semicolon.  help, exit."
HELP: Final = """\
A statement ends with a semicolon and may go over lines. Tab completes, Ctrl-R searches what was typed before.
  CREATE TABLE t (id BIGINT, name STRING);        a table; WITH ('connector' = …) says where its rows are
  SELECT … FROM t;                                the rows there are now
  SET 'execution.runtime-mode' = 'streaming';     from here on a SELECT is a view that changes as rows come
  INSERT INTO a SELECT … FROM b;                  a job that goes on behind the prompt
  SHOW JOBS;  STOP JOB name;                      how jobs are; end one when its micro-batch is done
  SHOW CATALOGS | DATABASES | TABLES | FUNCTIONS;  USE CATALOG c;  USE db;  DESCRIBE t;  SET;  EXPLAIN …;
Ctrl-C forgets what is typed, ends what is shown, cancels what runs; jobs go on.
exit, quit or Ctrl-D ends the shell and its jobs; started again, a job goes on where it was. clear clears the screen.
`lakeward sql` is a shell without Spark that only reads, and answers sooner."""


def is_command(text: str) -> bool:
    """Whether a text is a word that the shell itself understands."""
    return command_of(text) in EXITS | HELPS | CLEARS


def command_of(text: str) -> str:
    """A text as commands are compared."""
    return text.strip().rstrip("; ").lower()
