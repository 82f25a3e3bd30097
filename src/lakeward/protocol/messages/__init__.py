"""The messages of the protocol as frozen dataclasses, one file per family.

    shared           what several families say: errors, table paths, keys and values
    metadata         versions, servers, who leads what, health
    packed_metadata  … with parts that are encoded already
    database, table, partition  what exists
    log              append, fetch, offsets, writers, first rows
    packed_log       … with batches as payloads
    kv               put, look up, scan by key
    packed_kv        … with keys and values as payloads
    snapshot         snapshots of state, remote segments, tokens for their store
    lake             tiering: heartbeats, offsets, snapshots of the lake
    cluster          options, tags, rebalancing
    servers/         between the servers of a cluster: who leads what, what was committed
    acl, auth        known and refused

Names and numbers are those of the protocol; meaning is beside the handlers.
"""
