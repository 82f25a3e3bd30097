"""Pipelines in YAML.

pipeline          the noun and its verbs
pipeline_files    files on the command line → definitions
pipeline_start    `run`: from the start of Spark until all have ended or somebody ends them
pipeline_lines    … a line for each table
pipeline_metrics  … for Prometheus
pipeline_plan     `plan`
pipeline_status   `status`, `stop`, `drop`
flink_cdc         `flink-cdc.sh FILE`, as the guide writes it
"""
