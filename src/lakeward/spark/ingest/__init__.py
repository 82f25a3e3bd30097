"""Spark's data sources for what comes from outside.

| room | what it holds |
|---|---|
| capture | MySQL and MariaDB, PostgreSQL |
| kafka | topics of Kafka, read and written by librdkafka |
"""
