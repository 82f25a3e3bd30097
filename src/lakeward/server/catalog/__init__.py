"""What exists: in memory, written through to the metadata store.

catalog        databases, tables, schemas, partitions
catalog_records  … those nouns ↔ the records of the store
learned_catalog  … as a coordinator elsewhere tells it
events         what listeners are told
database       a database
partition      a partition
lake_settings  what the cluster's options say of the lake, and what clients are told of it
"""
