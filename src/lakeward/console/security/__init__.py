"""Who may ask the console for something, and what a browser may do with its answers.

headers   what every answer tells the browser to refuse
tokens    a visitor's cookie, and the token of their forms
sessions  people who have logged in
"""
