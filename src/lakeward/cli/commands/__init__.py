"""The commands, by what they are about.

`server/`, `container/`, `access/`, `tables/`, `rows/`, `scripts/`, `pipelines/`, `lake/`
"""
