"""`make bench`, which is `python -m bench.proof`: every promise in one go, what is short, and what has become slower.

__main__   options; prints line by line
promises   the lines as data: work, where it was, what to reach, unit, who measures
measures   what measures: each returns figures by key, at sizes that fit into half an hour
standing   the lines of docs/benchmarks*.md that compare with others, at small sizes
runner     a measure in a process of its own, bounded in time
kept       the last committed figures of the same kind of machine, and what is slower than they
"""
