"""Benchmarks: the same work on Lakeward and, where Maven is present, on Apache Fluss, as ratios taken in one run.

__main__         `python -m bench`: runs everything, writes docs/benchmarks.md
rows             the table and the rows that are written
targets          servers to measure: started, their CPU and memory read, stopped
apache_fluss     a real Apache Fluss from its published jar
pyfluss_work     the official client: append, scan, projected scan, latencies
own_client_work  our client: append, scan
raw_work         the protocol without a client, against the loopback's own rate
kv_stores        the key/value engines by themselves: `python -m bench.kv_stores`
script           a script of 200 statements, parsed and translated: `python -m bench.script`
shell            `lakeward shell` until the prompt and the first answer: `python -m bench.shell`
fairness         every attack of `tests/support/attacks` with a pinger beside it: `python -m bench.fairness`
security         logins, grants and TLS beside an open listener; strangers: `python -m bench.security`
postgres_capture  changes and rows of a PostgreSQL as Arrow: `python bench/postgres_capture.py`
report           the table, with what was promised
"""
