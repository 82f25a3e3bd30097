"""SQL: questions over tables, hot and cold as one.

sql_page      the page, and its rows as CSV
questions     questions that run: beside the loop, so many at a time, as long as they may
plan_picture  a plan as a drawing: files of the lake, stretches of the log, and what was left out
sql_texts     where in a text something is wrong; names as SQL writes them
csv_rows      rows as CSV
"""

from lakeward.console.pages.ask.sql_page import PAGES

__all__ = ["PAGES"]
