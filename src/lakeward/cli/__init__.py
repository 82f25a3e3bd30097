"""The command line: `lakeward NOUN VERB`, for people first and for scripts too.

main, command_tree    the program, its sections, and how commands are found without loading all of them
session               which server; `--server` and `--debug`
failures, near_names  exceptions → one sentence and an exit code, in one place; what was meant by a name
parameters            what people write → names, pairs, places in a log; completion from the server

serve, demo, bench    run a server, show it, measure it
restore, metadata     rebuild a lost one from its remote storage; mend the files of its catalog
databases, tables, partitions, cluster
append, tail, head, offsets
upsert, delete, lookup, changelog, dump
sql, sql_shell, plan, lake_read
                      SELECTs without Spark, one or many, and how a table would be read
tier, lake            the tiering service, what people say to it, and looking after lake tables
groups, completion
verify, repair        stored files: what is damaged, and giving it up
skip                  tiering and consumer groups go past rows that cannot be read

listing, text_table   listings and records, as tables or one JSON document
plain_text            what may reach a terminal
row_output, cell_text rows as a table, CSV or JSON lines, while they come
pipe_reader           … until nobody reads them any more
row_filter            … those for which a condition is true
log_ends              the first and the last rows of a table
table_description     what `tables describe` shows
sent_files            files on their way into a table
append_progress       the bar of a long append
key_texts             keys as people write them
files/                CSV, JSON lines, Parquet and Arrow → batches that fit a table
tier_run, tier_lake, tier_lines, tier_status
                      the service in a terminal: signals, its lake, a line a round, how each table does
submit/               the tiering service for spark-submit
child_server, child_bucket
                      servers that live as long as a command
demo_home, demo_orders, demo_lake, demo_tally, demo_screen, bench_work
reference             docs/reference/cli.md, printed from all of this

Modules load click and little else; Arrow, rich and the client are imported where they are used, so that `--help` and
completion answer at once.
"""
