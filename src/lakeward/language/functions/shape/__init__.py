"""What a row is, and what it makes of a call.

| module | what it holds |
|---|---|
| function | a row: arguments, Spark's form, what differs |
| form | Spark SQL with holes, filled by arguments |
| types | types as Spark writes them |
| where | the place of a node in its statement |
"""
