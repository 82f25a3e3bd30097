"""Tables on their way into the lake, and read from there.

tiering       tiering on Spark: `python -m bench.lake.tiering`; writes docs/benchmarks-tiering.md
tiering_work  … its rounds, beside pyarrow's Parquet writer
rest_catalog  what stock readers get through the Iceberg REST catalog: `python -m bench.lake.rest_catalog`
"""
