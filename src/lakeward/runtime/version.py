"""VERSION: which Lakeward this is. Written here too, since reading it from what is installed would slow every start."""

VERSION = "0.1.0"
