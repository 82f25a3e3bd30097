"""Rows in:  write → routing → batching → encode (threads) → lane → sender → servers

writer    AsyncWriter: rows in, acknowledgements out
routing   which partition and bucket a row belongs to
batching  small writes → batches
pipeline  what writers of both kinds share
delivery  what a batch travels in
lane      one bucket's batches: order, sequences, what an answer means. Decides, sends nothing
short_appends  a row or a few, on the caller's own thread; what goes wrong goes to a sender
sender    lanes → leaders; finds them again, repeats, gives up
"""
