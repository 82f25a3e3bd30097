"""The commands, by what they are about.

`server/`, `cluster/`, `container/`, `access/`, `tables/`, `rows/`, `scripts/`, `pipelines/`, `lake/`
"""
