"""SQL: scripts, the shell, the ports that answer it.

script       a script of 200 statements, parsed and translated: `python -m bench.sql.script`
script_run   what scripts cost: `python -m bench.sql.script_run`
script_work  … beside the same job by hand
shell        `lakeward shell` until the prompt and the first answer: `python -m bench.sql.shell`
serve        `lakeward sql serve` through its clients: `python -m bench.sql.serve`
"""
