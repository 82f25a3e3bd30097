"""Told by the service what happens, and told to it.

watchers         the port; one line for each thing in the log
status_table     … in a table of the cluster, for `lakeward tier status`
round_history    the rounds of the past, as that table's changelog has them
table_tiering    how one table does, for commands and the console
orders           what people tell the service: a round now, pause, resume
service_metrics  … counted, for Prometheus
housekeeper      compaction and expiry after some rounds, in the background
lag              how far the lake is behind, in rows and seconds
"""
