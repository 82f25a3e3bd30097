"""Consumer groups: how far behind they are, and a reset.

group_pages  handlers
group_view   what is shown of groups, and what a reset would do
reset_form   a form → where a group is to be
"""

from lakeward.console.pages.groups.group_pages import PAGES

__all__ = ["PAGES"]
