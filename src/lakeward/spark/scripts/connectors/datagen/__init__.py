"""The connector `datagen`: made-up rows. A row is a function of a seed and its number, so a replay has the same rows.

| module | what it holds |
|---|---|
| datagen_connector | the connector |
| datagen_options | its rows |
| recipes | what is made up for each column, read from type and options |
| draws | numbers that look random, by seed and place |
| columns | recipe → Arrow, whole columns at a time |
| datagen_rows | what travels to the tasks, and the rows they make |
| datagen_source | the data source of Spark |
| datagen_stream | … as a stream: offsets count rows, the clock paces them |
"""
