"""Part of somebody else's cluster.

tablet  a tablet server of an Apache Fluss cluster
"""
