"""What every page stands in.

settings   which cluster, where to listen, what is allowed
page       a page as one row: path, title, place in the navigation, handler
visit      what a handler is given: the way to the cluster, the form, and how to answer
gate       in front of every page: login, token of the form, read-only
render     templates, and how they show numbers and times
live       events that a page listens to
failures   an error → a page that says what to do
house      what all visits share
"""
