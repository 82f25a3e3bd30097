"""The server at work, by clients and by the bare protocol.

pyfluss_work     the official client: append, scan, projected scan, latencies
own_client_work  our client: append, scan
raw_work         the protocol without a client, against the loopback's own rate
fairness         every attack of `tests/support/attacks` with a pinger beside it: `python -m bench.server.fairness`
metrics          what counting costs an append, and a scrape the others: `python -m bench.server.metrics`
tablets          `--tablets 2` beside one process: the bare protocol, CPU a GB: `python -m bench.server.tablets`
replicas         among Apache's tablet servers: a killed leader, a follower's lag: `python -m bench.server.replicas`
copying          `lakeward copy` beside scan and append alone: `python -m bench.server.copying`
append_checks    what looking at batches costs, by codec: `python -m bench.server.append_checks`
"""
