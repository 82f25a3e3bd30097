"""What a query means: on bounded rows Spark's own, on streams with changes, keys, weights and windows.

| module | what it holds |
|---|---|
| stream | the planner: queries on streams |
| bounded | queries on bounded rows |
| ctes | queries of WITH, and what names in them stand for |
| projection | columns and conditions by themselves, for pipelines |
| sink | whether a sink can take the rows |
| steps | SELECT, GROUP BY, JOIN, UNION, one by one |
| shape | what is known on the way, and what a plan asks of the side that has Spark |
"""
