"""Plans of the language, on a Spark session.

| module | what it holds |
|---|---|
| spark_engine | tables as relations of a plan, and the steps that are no SQL |
| insert_plan | INSERT: a query's rows, made fit for the sink |
| fitting | which types go into which columns |
| net_changes | what is left of the changes of a micro-batch |
"""
