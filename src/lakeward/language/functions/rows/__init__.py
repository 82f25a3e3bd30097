"""The rows: functions by what they are about.

| module | what it holds |
|---|---|
| arithmetic | numbers |
| text | texts, hashes, URLs |
| temporal | times and dates |
| patterns | patterns of times |
| units | units of time, for what takes one |
| conditions | choices, questions, types |
| lists | arrays, maps, rows |
| json | JSON |
| json_reading, json_writing | JSON that is read, and that is written |
| casts | CAST, intervals, UNNEST, literals |
| aggregates | functions of many rows |
"""
