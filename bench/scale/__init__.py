"""`python -m bench.scale`: how cost grows with rows, buckets, partitions, rounds and connections.

__main__   options; every point in a process of its own, bounded in time
shapes     axes and their points: what is varied, what stays
bed        a server with a log table, a table by key and a lake, in one shape
works      append, scan, upsert, lookup, tiering round, union query, start-up, restore
crowd      the same for many connections at a time
peers      the same work on Apache Fluss, on DuckDB with Parquet
kafka_peer  and on Kafka
kept       figures as JSON: an interrupted run goes on, pictures are drawn again
growth     what a curve does: flat, linear, or neither
picture    small multiples as SVG
page       docs/benchmarks-scale.md
words      what that page says beside its figures
restoring  a server that lost its disk
capacity   docs/capacity.md: what a machine holds
"""
