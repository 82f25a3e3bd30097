"""Told by the service what happens.

watchers         the port; one line for each thing in the log
status_table     … in a table of the cluster, for `lakeward tier status`
service_metrics  … counted, for Prometheus
housekeeper      compaction and expiry after some rounds, in the background
lag              how far the lake is behind, in rows and seconds
"""
