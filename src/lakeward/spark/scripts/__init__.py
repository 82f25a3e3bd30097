"""Scripts on Spark: statements run one after another, streams go on as jobs.

| room | what it holds |
|---|---|
| script | runs statements one after another; the door |
| statements | what each kind of statement does |
| planning | plans of the language, on a Spark session |
| state | names, settings, outcomes |
| catalogs | databases and tables by name, one class for each kind |
| connectors | where rows come from and go to, one class for each kind |
| jobs | streams that go on: names, checkpoints, progress |
| reference | the page of connectors and catalogs |
"""
