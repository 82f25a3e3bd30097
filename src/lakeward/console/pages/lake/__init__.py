"""The lake: rounds, lag, snapshots, files, failures; a round now, pause, resume.

lake_pages  handlers
lake_row    how one table does
timeline    its rounds along the time
contents    what the lake itself has: snapshots and files
"""

from lakeward.console.pages.lake.lake_pages import PAGES

__all__ = ["PAGES"]
