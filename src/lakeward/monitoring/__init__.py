"""Dashboards and alerts, made from the rows of metrics.

query        a question to Prometheus about one metric, checked against its row
panel        a picture on a dashboard: a title and its questions
dashboards   what is on each dashboard: server, tables, lake, jobs
alerts       what somebody is woken for, and what to do then
grafana      a dashboard → the JSON that Grafana imports
rules        the alerts → the file of rules that Prometheus reads
reference    writes deploy/grafana, deploy/prometheus/alerts.yaml and docs/reference/alerts.md
"""
