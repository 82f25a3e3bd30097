"""What our web servers share: the console, the Iceberg catalog, the service that plans.

web_server   how they run: bounds of uvicorn, the end on a signal, the address they say
known_hosts  the names that they answer to, against DNS that points elsewhere
"""
