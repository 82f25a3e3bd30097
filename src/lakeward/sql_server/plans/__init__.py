"""Plans as a service: what a read would take, for engines that read by themselves.

plan_app   POST /v1/plan
plan_ask   what is asked, and what comes back
"""
