"""Who may do what.

acl_index   the entries there are, found by resource and principal: decides
acl_book    … kept in the metadata store
authorizer  may this client do that? Decisions are remembered by connection
thing       a resource, and what the asker called it
"""
