"""A tour of the Spark connector, against any Lakeward or Apache Fluss cluster.

lakeward serve --data-dir data          # in another terminal
python examples/spark_tour.py localhost:9123
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import lakeward.spark

bootstrap = sys.argv[1] if len(sys.argv) > 1 else "localhost:9123"
spark = lakeward.spark.session(bootstrap, master="local[2]")
checkpoints = Path(tempfile.mkdtemp(prefix="lakeward-tour-"))

# -- tables are made in SQL, with keys, buckets and partitions

spark.sql("CREATE DATABASE IF NOT EXISTS fluss.tour")
for table in ("orders", "users", "enriched"):
    spark.sql(f"DROP TABLE IF EXISTS fluss.tour.{table}")
spark.sql("""
    CREATE TABLE fluss.tour.orders (id BIGINT, user_id BIGINT, item STRING, amount DECIMAL(10,2), dt STRING)
    PARTITIONED BY (dt) TBLPROPERTIES ('bucket.num' = '2')
""")
spark.sql("""
    CREATE TABLE fluss.tour.users (id BIGINT NOT NULL, name STRING, tier STRING)
    TBLPROPERTIES ('primary.key' = 'id')
""")
spark.sql("CREATE TABLE fluss.tour.enriched (id BIGINT, item STRING, name STRING, tier STRING)")

# -- rows go in: a primary key table takes the newest row of each key

spark.sql("INSERT INTO fluss.tour.users VALUES (1, 'Ada', 'gold'), (2, 'Björn', 'basic')")
spark.sql("INSERT INTO fluss.tour.users VALUES (2, 'Björn', 'silver')")
orders = spark.sql("""
    SELECT id, 1 + id % 3 AS user_id, concat('item-', id % 5) AS item, CAST(id AS DECIMAL(10,2)) AS amount,
           IF(id < 500, '2026-10-31', '2026-11-01') AS dt
    FROM range(1000)
""")
orders.writeTo("fluss.tour.orders").append()

# -- and come out: only the partition and the columns that are asked for are read

recent = spark.table("fluss.tour.orders").where("dt >= '2026-11-01'").groupBy("item").sum("amount")
recent.explain()
recent.orderBy("item").show()
spark.table("fluss.tour.users").orderBy("id").show()
spark.sql("SELECT * FROM fluss.tour.users$changelog ORDER BY _log_offset").show(truncate=False)

# -- a stream: every order is joined with its user and appended to another table, exactly once

stream = (
    spark.readStream.format("fluss")
    .option("bootstrap.servers", bootstrap)
    .option("scan.startup.mode", "earliest")
    .load("tour.orders")
)
joined = stream.transform(lakeward.spark.lookup_join("fluss.tour.users", on={"user_id": "id"}, how="left"))
query = (
    joined.select("id", "item", "name", "tier")
    .writeStream.option("checkpointLocation", str(checkpoints / "enriched"))
    .trigger(availableNow=True)
    .toTable("fluss.tour.enriched")
)
query.awaitTermination()
print("enriched:", spark.table("fluss.tour.enriched").count(), "of", spark.table("fluss.tour.orders").count(), "orders")
spark.stop()
