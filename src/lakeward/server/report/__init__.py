"""What a server tells about itself.

http          GET /health, /metrics and /remote on the same port
health        what /health answers, and what is counted of damaged logs
lake_metrics  how far the lake is behind, for GET /metrics
"""
