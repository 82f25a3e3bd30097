"""What the parts of Lakeward tell about themselves.

rows/            one row per metric: name, kind, unit, labels, meaning, what to do
metrics          counters, gauges and histograms, declared by rows
spread           how times are spread, for histograms and quantiles
prometheus_text  metrics as text for Prometheus
tracing/         one request or round, followed step by step
otlp/            metrics and spans as OpenTelemetry sends them
reporter         the port to those to whom metrics are sent
reporters/       those to whom metrics and traces are sent
reference        prints docs/reference/metrics.md
"""
