"""The command line: `lakeward NOUN VERB`, for people first and for scripts too.

    main       the program and its sections
    reference  docs/reference/cli.md, printed from all of this
    submit/    the tiering service for spark-submit
    demo/      `lakeward demo`: a server, a stream of orders, a lake, a screen
    commands/  one file per command
    files/     CSV, JSON lines, Parquet and Arrow → batches that fit a table
    input/     what people write → names, pairs, places in a log; errors → one sentence and an exit code
    output/    rows and listings, as tables or as JSON

Modules load click and little else; Arrow, rich and the client are imported where they are used, so that `--help` and
completion answer at once.
"""
