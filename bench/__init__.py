"""Benchmarks: the same work on Lakeward and, where Maven is present, on Apache Fluss, as ratios taken in one run.

__main__         `python -m bench`: runs everything, writes docs/benchmarks.md
rows             the table and the rows that are written
targets          servers to measure: started, their CPU and memory read, stopped
apache_fluss     a real Apache Fluss from its published jar
pyfluss_work     the official client: append, scan, projected scan, latencies
own_client_work  our client: append, scan
raw_work         the protocol without a client, against the loopback's own rate
kv_stores        the key/value engines by themselves: `python -m bench.kv_stores`
fairness         every attack of `tests/support/attacks` with a pinger beside it: `python -m bench.fairness`
report           the table, with what was promised
"""
