"""TLS.

certificates  the server's own certificate, and whom it trusts; read again when a file changes
tls_door      connections that are being encrypted
subjects      certificate → who its owner is
"""
