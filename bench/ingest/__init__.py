"""Databases and Kafka into tables.

capture           a database copied and followed, end to end: `python -m bench.ingest.capture`
mysql_capture     MySQL's changes against other clients: `python -m bench.ingest.mysql_capture`
postgres_capture  changes and rows of a PostgreSQL as Arrow: `python -m bench.ingest.postgres_capture`
kafka             a topic into a log table: `python -m bench.ingest.kafka`; writes docs/benchmarks-kafka.md
"""
