"""The pipeline of the guide, as it stands there."""

GUIDE_PIPELINE = """\
# pipeline.yaml
source:
  type: mysql
  hostname: mysql-host
  port: 3306
  username: root
  password: password
  database-name: mydb
  table-name: users

sink:
  type: fluss
  bootstrap.servers: fluss-server:9123
  database-name: analytics
  table-name: users

pipeline:
  name: mysql-to-fluss
  parallelism: 4
"""
