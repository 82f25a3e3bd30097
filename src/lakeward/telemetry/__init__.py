"""What the parts of Lakeward tell about themselves.

rows/            one row per metric: name, kind, unit, labels, meaning, what to do
metrics          counters, gauges and histograms, declared by rows
spread           how times are spread, for histograms and quantiles
prometheus_text  metrics as text for Prometheus
reference        prints docs/reference/metrics.md
"""
