"""The door to the formats.

registry        format_of: a format by its name, and the options of all of them
"""
