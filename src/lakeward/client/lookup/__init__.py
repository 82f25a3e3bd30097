"""Rows out, by key:  lookup → lookups → bucket_calls → servers → value_decoder → reader

lookups          many keys, or prefixes of keys, in one call
few_keys         one key or a few, the short way
lookup_kernels   keys into requests, values out of answers
bucket_calls     requests to many leaders, repeated where one has moved
missing_keys     the error of a key that must be there and is not
bucket_evidence  whether the rows of a table that says nothing agree with us
"""
