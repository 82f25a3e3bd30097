"""Primary key tables, and what lies below them.

work     tables at work, with the official client and with ours
stores   the key/value engines by themselves: `python -m bench.kv.stores`
kernels  what each step of a put costs by itself: `python -m bench.kv.kernels`
"""
