"""Who asks.

people  People: connections to the cluster, one for each user, and the tokens that stand for them
"""
