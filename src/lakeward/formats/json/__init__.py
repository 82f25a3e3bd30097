"""JSON: an object is a row, an array of objects several.

json_options    its rows
json_decoder    messages → rows
json_objects    messages → objects, and what is said of those that are none
json_columns    values of JSON → columns, rows in rows too
json_grammar_kernels  where texts, numbers and containers end
json_kernels    JSON cut into its values
json_encoder    rows → messages
json_text       columns → their values as JSON
"""
