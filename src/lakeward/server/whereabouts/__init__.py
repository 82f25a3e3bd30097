"""Where things are: which servers there are, who leads which bucket, and GET_METADATA.

cluster_map       what must be known of the servers to answer
one_server        … where one process is all of them
metadata_answers  GET_METADATA
opening           who asks before that is known waits
"""
