"""The steps of a query on streams: each makes of what is known what Spark is told, or refuses.

| module | what it holds |
|---|---|
| select | what is shown, and what travels beside |
| newest | the first row of each key, ROW_NUMBER() = 1 |
| ordering | what rows are ordered by, as fields of a struct |
| aggregate, weights | GROUP BY, right where rows are taken back |
| joins, lookups | relations that come together |
| union | UNION and DISTINCT |
| hop | WHERE over the windows of HOP |
"""
