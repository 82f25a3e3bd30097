"""The text of a script.

| module | what it holds |
|---|---|
| script_text | a text that knows its lines |
| lexer | words, names, texts, numbers, hints and signs |
| split | statements, cut at semicolons; what is left over |
| reader | steps through the tokens of a statement |
| options | ('key' = 'value', …) |
| hints | OPTIONS(…) in a hint |
| partition | PARTITION (key = value, …) |
| spark_text | what is Spark's, and handed over as it was written |
"""
