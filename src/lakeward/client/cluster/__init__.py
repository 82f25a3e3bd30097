"""What everything on one connection shares.

cluster           settings, channels, metadata, worker threads, as one
workers           its threads, on which rows are encoded and decoded
metadata_cache    who leads which bucket; refreshed when a server says it is not the leader
shared_questions  many who ask about the same table ask once
patience          a request to a leader, repeated while it moves
absence           all servers are away: said once, and waited for
direct_lines      connections on which blocking code asks for a row or two on its own thread
direct_channel    one of them
vigil             a server owes an answer: whether the cluster goes on without it
http_page         what a server tells by HTTP, with the same login
remote_page       … what all of them tell of remote storage, as one
writer_ids        writer ids, lent to writers and taken back
loop_thread       the background event loop that the blocking door runs on, or that of an asyncio caller
"""
