"""Databases, tables and partitions: looked at, created, changed, dropped.

catalog          /tables and /databases/…: what there is
table_page       /tables/db/table: everything about one table
create_forms     forms for a new database, table and partition
change_forms     forms that alter a table, and that drop what is there
table_form       what was typed into the form of a new table → what the client takes, or what is wrong with each field
table_look       what the cluster is asked about a table, within bounds
table_view       what the template shows of that
property_rows    properties with their defaults and meanings
sample_rows      a few rows as text
pieces           long lists, cut into pages and filtered
"""

from lakeward.console.pages.tables.catalog import PAGES as _LISTS
from lakeward.console.pages.tables.change_forms import PAGES as _CHANGES
from lakeward.console.pages.tables.create_forms import PAGES as _NEW
from lakeward.console.pages.tables.table_page import PAGES as _TABLE

PAGES = (*_LISTS, *_TABLE, *_NEW, *_CHANGES)
