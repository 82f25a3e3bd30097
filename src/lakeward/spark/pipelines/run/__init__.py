"""Pipelines that run.

| module | what it holds |
|---|---|
| pipelines | Pipelines: several in one process, each on a thread of its own |
| pipeline_run | PipelineRun: one, through failures and pauses, until it is stopped |
| pipeline_query | PipelineQuery: one attempt, as a streaming query of Spark |
| pipeline_meter | what batches and Spark's reports say → rows, rows a second, lag, phase, by table |
| pipeline_home | PipelineHome: where it is written down how pipelines are |
| origin | what a checkpoint was begun with: another source does not go on from it |

What `lakeward pipeline status` needs loads without Spark.
"""
