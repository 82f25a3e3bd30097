"""The tiering service as a Spark application.

tiering_job   the job
spark_runner  tasks of a round, run by Spark
worker_daemon  what Spark forks its Python workers from, with what these tasks load
"""
