"""What containers are told to run: the roles by the names that Apache Fluss gives them, and a check of health.

coordinator_server  the server
tablet_server       hands on to the server what comes to it
health              is a server, a console or a tiering service well?
"""
