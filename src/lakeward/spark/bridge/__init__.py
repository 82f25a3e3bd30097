"""One Python process for each task of a JVM: `python -m lakeward.spark.bridge SOCKET`.

__main__  reads a call, answers it, over a Unix socket
calls     what can be called: one row per call
"""
