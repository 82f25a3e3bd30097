"""Benchmarks: the same work on Lakeward and, where Maven is present, on Apache Fluss, as ratios taken in one run.

__main__      `python -m bench`: server and client beside the peer, writes docs/benchmarks.md
rows          the table and the rows that are written
targets       servers to measure: started, their CPU and memory read, stopped
apache_fluss  a real Apache Fluss from its published jar
report        the table, with what was promised
libraries     what libraries cost where we have, or had, code of our own: `python -m bench.libraries`
server/       clients and the protocol at work, fairness, metrics, checks of batches
kv/           primary key tables and the engines below them
union/        hot and cold as one table: `python -m bench.union`
tpch/         TPC-H over hot and cold beside the same engine on Parquet: `python -m bench.tpch`
lake/         tiering rounds, the Iceberg REST catalog
sql/          scripts, the shell, `lakeward sql serve`
spark/        the Spark connector: `python -m bench.spark`
remote/       remote storage: `python -m bench.remote`
ingest/       databases and Kafka into tables
security/     logins, grants and TLS beside an open listener; strangers: `python -m bench.security`
scale/        how cost grows, with pictures: `python -m bench.scale`
proof/        `make bench`: every promise in one go: `python -m bench.proof`
"""
