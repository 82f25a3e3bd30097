"""The Iceberg REST protocol, without a cluster.

names      namespaces and tables: `db`, `now.db`, `table$now`
paths      … where they stand in requests
bodies     what requests bring
paging     lists in pages
failures   errors in the protocol's shape
endpoints  what is answered here, for readers that ask first
"""
