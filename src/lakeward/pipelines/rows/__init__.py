"""One row per option of a pipeline's YAML.

part           Part: an option table with what must be given, by type
sources        mysql, mariadb, postgres
sinks          fluss, kafka, iceberg, print
steps          route, transform, pipeline
behavior       SchemaChanges: what is done about ALTER TABLE
"""
