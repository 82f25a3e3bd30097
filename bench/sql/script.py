"""A script of 200 statements, parsed and its functions translated: `python -m bench.sql.script [--statements N]`.

CPU time, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.statements.define import CreateView
from lakeward.language.statements.rows import Insert, Select, StatementSet
from lakeward.language.statements.statement import Statement

#: What a pipeline is made of; {n} makes names differ.
_TEMPLATES = (
    "CREATE CATALOG shop_{n} WITH ('type' = 'fluss', 'bootstrap.servers' = 'localhost:9123')",
    "USE CATALOG shop_{n}",
    "CREATE DATABASE IF NOT EXISTS sales_{n} COMMENT 'what was sold'",
    """CREATE TABLE sales_{n}.orders (
  order_id BIGINT NOT NULL COMMENT 'as printed',
  customer_id BIGINT,
  amount DECIMAL(10, 2),
  lines ARRAY<ROW<sku STRING, quantity INT>>,
  labels MAP<STRING, STRING>,
  ordered_at TIMESTAMP(3),
  day AS DATE_FORMAT(ordered_at, 'yyyy-MM-dd'),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND,
  PRIMARY KEY (order_id) NOT ENFORCED
) DISTRIBUTED BY HASH (order_id) INTO 8 BUCKETS
WITH ('connector' = 'fluss', 'table.datalake.enabled' = 'true', 'bucket.num' = '8')""",
    """CREATE TEMPORARY TABLE clicks_{n} (
  user_id BIGINT, url STRING, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at - INTERVAL '10' SECOND
) WITH ('connector' = 'datagen', 'rows-per-second' = '100')""",
    "SET 'execution.runtime-mode' = 'streaming'",
    """INSERT INTO sales_{n}.enriched
SELECT o.order_id, o.amount, c.name, UPPER(c.city) AS city, COALESCE(c.tier, 'none') AS tier,
  CASE WHEN o.amount > 100 THEN 'large' WHEN o.amount > 10 THEN 'medium' ELSE 'small' END AS size
FROM sales_{n}.orders AS o -- as they come
LEFT JOIN sales_{n}.customers FOR SYSTEM_TIME AS OF o.ordered_at AS c ON o.customer_id = c.customer_id
WHERE o.amount > 0 AND c.city IN ('Bern', 'Basel')""",
    """CREATE TEMPORARY VIEW per_minute_{n} AS
SELECT user_id, TUMBLE_START(at, INTERVAL '1' MINUTE) AS start, COUNT(*) AS clicks, COUNT(DISTINCT url) AS pages
FROM clicks_{n} GROUP BY user_id, TUMBLE(at, INTERVAL '1' MINUTE)""",
    """SELECT window_start, window_end, SUM(amount) AS total, AVG(amount) FILTER (WHERE amount > 1) AS mean
FROM TABLE(HOP(TABLE sales_{n}.orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY window_start, window_end""",
    """EXECUTE STATEMENT SET BEGIN
  INSERT INTO large_{n} SELECT order_id, amount FROM sales_{n}.orders WHERE amount > 100;
  INSERT INTO small_{n} SELECT order_id, amount FROM sales_{n}.orders WHERE amount <= 100;
END""",
    "SELECT * FROM sales_{n}.orders /*+ OPTIONS('scan.startup.mode' = 'earliest') */ WHERE order_id = 7 LIMIT 10",
    """WITH ranked AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY amount DESC) AS place FROM sales_{n}.orders
) SELECT customer_id, amount, TIMESTAMPDIFF(DAY, ordered_at, CURRENT_TIMESTAMP) AS age FROM ranked WHERE place <= 3""",
    "INSERT INTO sales_{n}.customers VALUES (1, 'Ada', 'Bern', 'gold'), (2, 'Bo', 'Basel', NULL)",
    "DESCRIBE sales_{n}.orders",
    "UPDATE sales_{n}.customers SET tier = 'gold' WHERE customer_id IN (SELECT customer_id FROM large_{n})",
    "ALTER TABLE sales_{n}.orders SET ('table.datalake.enabled' = 'false')",
)


def script(statements: int) -> str:
    """A script of so many statements."""
    return ";\n\n".join(
        _TEMPLATES[n % len(_TEMPLATES)].replace("{n}", str(n // len(_TEMPLATES))) for n in range(statements)
    )


def queries(statement: Statement) -> list[Any]:
    """The queries of a statement that are translated; a window table is the plan's to take apart first."""
    match statement:
        case Insert() | Select() | CreateView():
            found: list[Any] = [statement.query]
        case StatementSet():
            found = [insert.query for insert in statement.inserts]
        case _:
            found = []
    return [tree for tree in found if tree.find(WindowTable) is None]


def main() -> None:
    """Measure, and print the median of the rounds."""
    parser = argparse.ArgumentParser(prog="bench.sql.script", description=__doc__)
    parser.add_argument("--statements", type=int, default=200, help="statements in the script (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts (default 5)")
    arguments = parser.parse_args()
    text = script(arguments.statements)
    parsed: list[float] = []
    translated: list[float] = []
    for _ in range(arguments.rounds):
        start = time.process_time()
        found = parse_script(text)
        middle = time.process_time()
        for statement in found:
            for tree in queries(statement):
                spark_text(to_spark(tree))
        parsed.append(middle - start)
        translated.append(time.process_time() - middle)
    print(
        f"{arguments.statements} statements, {len(text):,} characters, CPU time, median of {arguments.rounds} rounds:"
    )
    for name, times in (("parse", parsed), ("translate", translated)):
        seconds = statistics.median(times)
        print(f"  {name:<10} {seconds:6.3f} s  {arguments.statements / seconds:8,.0f} statements/s")


if __name__ == "__main__":
    main()
