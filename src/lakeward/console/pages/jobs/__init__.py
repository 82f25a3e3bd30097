"""Jobs and pipelines that run on the console's machine.

job_pages  handlers
job_view   what is shown of them
"""

from lakeward.console.pages.jobs.job_pages import PAGES

__all__ = ["PAGES"]
