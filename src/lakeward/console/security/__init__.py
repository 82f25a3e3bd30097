"""Who may ask the console for something, and what a browser may do with its answers.

headers   what every answer tells the browser to refuse
hosts     the names that the console answers to, against DNS that points elsewhere
tokens    a visitor's cookie, and the token of their forms
sessions  people who have logged in
"""
