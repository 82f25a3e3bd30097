"""What is asked of a table.

request        ReadRequest: table, view, columns, filters, limit, options
options        the options of a read as values
filling        a table that has not all its rows yet, which is not read
views          the table's rows, its changelog, its binlog; names and schemas
filters        filters as values, and as JSON
pushdown       filters → what the server can judge batches by, and which partitions can match
offset_bounds  filters on a view's offsets and times → what need not be read
"""
