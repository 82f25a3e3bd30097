"""Bytes of a log → Arrow.

batch_cutter  answers → pieces of whole batches
log_decoder   log batches → Arrow, whatever schema they were written under
"""
