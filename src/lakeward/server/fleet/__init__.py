"""The tablet servers of a coordinator, as the coordinator sees them.

fleet        who is there, who leads what, and what each of them is told
placement    pure: which server leads which bucket
line         orders to one server, one after the other
order_forms  the catalog's nouns → messages
"""
