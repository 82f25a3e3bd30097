"""YAML with places.

document     text → Documents: values, and where each stands
mistake      Mistake: what is wrong, in which line and column; MistakesError: all of them
references   `${NAME}` and `${file:/path}`: what is not written in the file itself
"""
