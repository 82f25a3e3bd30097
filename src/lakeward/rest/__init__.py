"""An Iceberg REST catalog: tables of a cluster for engines that never heard of us. `lakeward catalog serve` starts it.

server     it listens, says where, and stops
app        routes, and who answers them
changes    … those of requests that change something
settings   what it is told
catalog    RestCatalog: namespaces and tables of the cluster in the protocol's words
protocol/  names, pages, errors and answers of the Iceberg REST protocol
people/    who asks: tokens of OAuth2, connections to the cluster
now/       tables as they are now: hot and cold as one snapshot, which is never committed
others/    tables of the lake that are not the cluster's, if it keeps those as well
tables/    committed tables, and the keys to their buckets
"""
