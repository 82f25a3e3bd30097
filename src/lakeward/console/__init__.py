"""The web console: a cluster in a browser. `lakeward console` starts it.

    app        everything put together: routes, gate, error pages
    server     it listens, says where, and stops
    pages/     one module, or one folder, per page; its head says how a page is added
    frame/     what every page stands in: a visit, its template, forms, live events, errors
    security/  which hosts, which headers, who is who
    cluster/   the way to a cluster: a connection of the client, and what a Lakeward tells by HTTP
    rows/      rows of tables on a page
    text/      numbers and times for people
    templates/ Jinja; each page extends layout.html
    static/    style sheet, scripts and icon; nothing is fetched from elsewhere

A page that is to be added touches `pages/` and `templates/` (and `static/`, where it is live) and nothing else. Pages
talk to the cluster by our client alone, so that they work with Apache Fluss, too; what only a Lakeward tells may be
missing, and a page then says that it cannot know.
"""
