"""Trees of sqlglot, made from tokens of ours.

| module | what it holds |
|---|---|
| trees | a query, an expression or a whole statement as a tree |
| places | where in the script a node stands |
| complaints | what is wrong with it, in our words |
| tree_tokens | tokens as sqlglot's parser reads them |
| tree_parser | Spark's parser, functions left as they are written |
| strict_clauses | what sqlglot lets pass and we do not |
| window_tables | TABLE(TUMBLE(…)) and its kin |
| tree_error | where sqlglot's parser cannot go on |
"""
