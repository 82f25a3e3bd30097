"""Serves: the logs of this server, the state by key, and the requests that touch them.

service   one handler per API
scans     LIST_OFFSETS, LIMIT_SCAN, GET_TABLE_STATS
scrubber  cold segments read slowly, again and again, so that rot is found
kv/       PUT_KV, LOOKUP, PREFIX_LOOKUP, SCAN_KV
log/      PRODUCE_LOG, FETCH_LOG
buckets/  which buckets are here, their logs and states
"""
