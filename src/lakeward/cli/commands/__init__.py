"""The commands, by what they are about: `server/`, `tables/`, `rows/`, `scripts/`, `pipelines/`, `lake/`."""
