"""Pipelines: what a YAML file says, checked and planned. Nothing here starts anything, or speaks to anyone.

    read_pipelines(files, environment)      files → PipelineDefinitions; every mistake at once, with its place
    plan_tables(definition, tables)         a definition and the tables of its database → where each goes

| module | what it holds |
|---|---|
| definition | PipelineDefinition, Route, Transform: what was written, as values |
| reading | files → definitions |
| checks | what a JSON schema cannot say: patterns, expressions, names that must differ |
| json_schema | the JSON schema, made from the rows; its complaints in words |
| patterns | which tables a text such as `shop.\\.*` names |
| plan | TablePlan: one table, from where to where, with which columns and keys |
| changes | rows on their way: filtered, fitted to columns, turned into puts and deletes |
| fit | does a table that is there fit what is to come? A sentence for each column that does not |
| sink_check | may a pipeline write into it? |
| evolution | a change of the source's table → what is done with the sink's |
| status | PipelineStatus: how a pipeline is, as other processes see it |
| reference | prints docs/reference/pipelines.md and pipeline.schema.json |
| text | YAML with places: documents, mistakes, `${…}` |
| rows | one row per option of sources, sinks and the pipeline |
"""
