"""The pages of the console, one module or one folder for each.

all_pages       every page there is, found in this folder
overview/       how the cluster does, now
tables/         databases, tables, partitions: looked at and changed
live            the rows of a table as they come
lookup          rows of a table by their keys
ask             questions in SQL, with a chart and the plan
lake/, groups/, jobs/  rounds and snapshots; consumer groups; jobs and pipelines
remote_storage  what is copied to remote storage
table_choice    which tables there are to choose from
login           who are you?

How a page is added: put a module, or a folder, here, whose module-level `PAGES` is a tuple of `Page` rows, and name it
above. Each row has a path, a title and a handler, which is given a `Visit` and answers with a response; `nav` puts it
into the navigation. Work that can be pure is: a function takes what the cluster said and makes the values that the
template shows, so that it is tested without either. The template is `templates/<page>.html` and extends
`layout.html`; a form is a `<form method="post">` with `{{ form.token(form_token) }}` of `parts/form.html` in it, and
its POST is a row of its own with `method="POST"`. Scripts lie in `static/` and are named in `{% block scripts %}`;
neither scripts nor styles stand inside a page, whose policy forbids it.
"""
