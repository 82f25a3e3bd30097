"""Reporters: those to whom metrics and traces are sent. Each sends from a thread, and waits for nobody.

http_send       one HTTP request, with a bound of time
push_gateway    Prometheus' push gateway
otlp_collector  a collector of OpenTelemetry
span_sender     sends the spans of a process that has no event loop
reporter_plan   which of them the options ask for
"""
