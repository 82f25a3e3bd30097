"""Serves: the logs of this server, the state by key, and the requests that touch them.

    service        one handler per API, put together
    tablets        buckets, logs, states and chores, put together
    table_changes  what is done when tables are created, altered or dropped
    scans          LIST_OFFSETS, LIMIT_SCAN, GET_TABLE_STATS
    scrubber       cold segments read slowly, again and again, so that rot is found
    kv/            PUT_KV, LOOKUP, PREFIX_LOOKUP, SCAN_KV
    log/           PRODUCE_LOG, FETCH_LOG
    state/         the states by key that are open, and who works on them
    requests/      what requests share

A room imports only rooms below it. The logs themselves are in `server.buckets`.
"""
