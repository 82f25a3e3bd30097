"""Which buckets are here, and their logs: what the tablet and the remote role share.

buckets       which buckets there are, and where their files lie
logs          the logs that are open; one is opened when it is first touched
log_opening   what a log is told when it is opened, and what it tells
replication   who leads a bucket and how far its copies elsewhere are; a server alone has none
leadership    … of several servers: which buckets this one leads
log_settings  a table's options as its logs take them
"""
