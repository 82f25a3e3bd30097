"""What all protocols share.

house     accounts and the desk where questions are answered
settings  what the server is told
"""
