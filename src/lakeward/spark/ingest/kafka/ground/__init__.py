"""What needs no broker.

kafka_options   the rows: options of sources and sinks
offsets         how far a stream is, and what is next
"""
