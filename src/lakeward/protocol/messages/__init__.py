"""The messages of the protocol as frozen dataclasses, one file per family.

Names and numbers are those of the protocol; meaning is in docs/reference/api.md and beside the handlers.
"""
