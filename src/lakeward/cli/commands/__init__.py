"""The commands, by what they are about: `server/`, `access/`, `tables/`, `rows/`, `scripts/`, `pipelines/`, `lake/`."""
