"""The commands, by what they are about: `server/`, `tables/`, `rows/`, `lake/`."""
