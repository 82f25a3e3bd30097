"""What each API asks for.

rule_table     one row for every API
rule           rules that let a request through or refuse it
partial_rules  … those that refuse a part of it
subjects       what a request is about
known_things   tables by number, and by what refers to them
bucket_forms   requests that name buckets, taken apart by table
"""
