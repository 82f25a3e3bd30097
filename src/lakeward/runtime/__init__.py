"""Doors to the world: all that is not deterministic enters here.

clock     Clock: the system's, or one moved by hand
entropy   ids and randomness, from the system or from a seed
metrics   counters and gauges, as text for Prometheus
"""
