"""Scripts: SQL that runs on Spark, and the jobs that it leaves running.

run           a script, top to bottom
shell         statements by hand, on a prompt
run_script    … statement by statement, then its jobs until they end
run_signals   … Ctrl-C and SIGTERM
live_output   … the changes of a streaming SELECT
script_start  … a session of Spark, and a script on it
script_error  … where in the text it went wrong
spark_quiet   … what Spark says goes into a file
job_lines     a line of progress for each job
job_metrics   what they count, for Prometheus
jobs          what runs here, or ran
"""
