"""A place in an Apache Fluss cluster: what is kept in its ZooKeeper. The only home of kazoo.

session  registered as a tablet server, as long as the session lasts; where the coordinator is; numbers for writers
home     whose replicas a data directory holds
nodes    paths and JSON of the nodes that a tablet server reads and writes. Pure
"""
