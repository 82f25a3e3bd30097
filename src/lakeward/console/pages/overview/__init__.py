"""How the cluster does, now.

overview  the page, its events and its findings
health    a word and a sentence, from what the server says of itself
sample    what was counted at one moment, and what came and went between two
figures   rates and counts as the texts of the page
watch     samples, one after the other, from whatever the cluster tells
delay     how long a row takes from the log to a reader: measured by reading
"""

from lakeward.console.pages.overview.overview import PAGES as PAGES
