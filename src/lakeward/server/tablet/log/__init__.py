"""PRODUCE_LOG and FETCH_LOG.

produce        check, judge, append, answer; batches that came too early wait
append_checks  what a batch must be before it is appended: rows of its table that every reader can read
early          batches that came before their predecessor
fetch          read, select, answer or wait
answer_room    … how much more fits into an answer
fetch_answer   … encoded in pieces
selection      which batches and columns of them a fetch gets
filters        … the predicate it came with
waiting        fetches that wait for rows, woken by the append
"""
