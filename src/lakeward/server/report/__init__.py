"""What a server tells about itself.

http             GET /health, /metrics and /remote on the same port
health           what /health answers, and what is counted of damaged logs
seen_clients     which clients have come
scrape           the text of all metrics, made while clients are served
request_meter    requests, errors and times by API
table_survey     rows, bytes, logs and states of each table
lake_metrics     how far the lake is behind
outlets          where metrics and traces go beside /metrics, opened and closed together
reporting        metrics and traces, sent elsewhere by the clock
request_traces   some requests, followed step by step
scrape_port      metrics on a port of their own
process_metrics  memory, CPU, files, and how late the event loop is
"""
