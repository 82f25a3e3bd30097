"""What to change about a table, from the table's own figures. Looks only; by the public protocol, for any cluster.

survey   asks a cluster for a table's figures, within bounds
rules    the rows: what is looked at, from where on it matters, what to do; advise(figures)
advice   Advice: one thing to change
figures  TableFigures: what is known of a table
"""
