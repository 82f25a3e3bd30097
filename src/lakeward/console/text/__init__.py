"""Numbers and times for people.

figures  counts, bytes, rates, lengths of time
moments  a moment: how long ago, and exactly when
"""
