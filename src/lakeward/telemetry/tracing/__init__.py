"""Traces: one request or one round, followed step by step. Off unless somebody asks for them.

span    one step: when it began and ended, and which step it belongs to
trail   one thing that is followed, and its steps
tracer  makes spans, and keeps those that have ended until they are sent
"""
