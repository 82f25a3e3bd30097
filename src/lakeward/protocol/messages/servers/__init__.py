"""What the servers of a cluster say to each other.

orders   from the coordinator to tablet servers
reports  from tablet servers to the coordinator
"""
