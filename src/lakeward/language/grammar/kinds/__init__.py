"""Kinds of statements: tokens → a value of `statements`.

| module | what it reads |
|---|---|
| script | the whole way: a script, or one statement after the other |
| use | USE |
| show | SHOW |
| describe | DESCRIBE |
| drop | DROP |
| alter | ALTER |
| insert | INSERT |
| statement_set | EXECUTE STATEMENT SET |
| select | SELECT, WITH, VALUES |
| row_change | UPDATE, DELETE, MERGE INTO, TRUNCATE |
| explain | EXPLAIN |
| settings | SET and RESET; STOP JOB |
"""
