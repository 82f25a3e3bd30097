"""The way to a cluster.

access        one principal's way: a connection of the client, opened when it is needed, and the reports
reports       what a Lakeward server tells by HTTP: /health, /metrics, /remote
beside        blocking code of ours, on a thread, with that connection
metrics_text  Prometheus' text → numbers by name and labels
"""
