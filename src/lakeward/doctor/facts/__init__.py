"""What was found: frozen values, with which every check can be tested.

facts      Facts: all of it; what is None could not be learned, and it is known why
port       what listens where clients are sent
samples    the numbers of /metrics
tables     a table: its properties, how its buckets are filled, how far the lake is behind
machine    this machine, the server's process on it, the disk and the data directory
"""
