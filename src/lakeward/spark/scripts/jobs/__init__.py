"""Jobs: streaming statements that go on, by name, from a checkpoint, exactly once.

| module | what it holds |
|---|---|
| jobs | Jobs: starts them, keeps an eye on them, stops them |
| job | Job: one that runs |
| stream_plan | StreamPlan: one INSERT that streams, ready to start |
| running_stream | RunningStream: … as a query of Spark that runs |
| stream_meter | Spark's progress reports → rows, rows a second, lag, state |
| job_record | JobRecord: what is written down of a job |
| job_home | JobHome: where records, locks and checkpoints are |
| job_names | names of jobs, from what they do |
| continuity | can a statement go on from what an earlier one left? |
| checkpoint_check | is a checkpoint whole? |
| spark_failure | what Spark throws → one sentence |

What `lakeward jobs` needs, records and their home, loads without Spark.
"""
