"""Rows in files and on stdin → Arrow batches that fit a table.

formats        which reader a file needs; `open_rows` is the door
source         bytes of a file or a pipe, unpacked, with a count of what was read
line_blocks    bytes → blocks of whole lines, each with the number of its first line
csv_file       CSV and TSV
json_file      JSON lines
arrow_file     Parquet, Arrow IPC files and streams, Feather
arrow_bytes    bytes that Arrow's threads may let go of when they like
guesses        types of a text file, as its first rows suggest them
row_shape      the columns a table needs, and those a file has
bad_row        the row that does not fit: where it is and why
sent_files     files on their way into a table
key_texts      keys as people write them

Everything streams; a file is never in memory as a whole. The first row that does not fit ends the reading with a
BadRowError, and every row before it has been handed out.
"""
