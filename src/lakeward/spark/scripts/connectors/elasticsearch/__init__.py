"""The connector `elasticsearch`: rows as documents of Elasticsearch or OpenSearch, by `_bulk` over HTTP.

| module | what it holds |
|---|---|
| elasticsearch_connector | the connector, under all its names |
| elasticsearch_options | its rows; BulkSettings |
| index_names | index names with fields of the row in them |
| bulk_actions | rows → actions of a bulk request |
| bulk_client | requests: which host, who asks, again after a while |
| bulk_writer | actions → documents; what was refused |
| elasticsearch_sink | the sink: tasks write, the driver deals with what was refused |
| refused_documents | failure, a count, or dead letters: files or a table |
"""
