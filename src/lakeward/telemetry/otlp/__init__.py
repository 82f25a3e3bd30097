"""OpenTelemetry's protocol (OTLP), written by hand: what is sent is small, and the library is not (decision 0038).

wire             fields of protocol buffers
resource         who sends: attributes that all metrics and spans share
metric_messages  metrics → the body of POST /v1/metrics
trace_messages   spans → the body of POST /v1/traces
"""
