"""What is known of rows while a query is planned.

| module | what it holds |
|---|---|
| relation | a table or subquery: columns, key, changes |
| scope, shown | the relations of FROM, and the columns of SELECT |
| block | what FROM and its joins have become so far |
| window | TUMBLE, HOP, SESSION, CUMULATE |
| engine | what a plan asks of the side that has Spark |
| trees | small pieces of trees |
"""
