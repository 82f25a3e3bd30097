"""Rows on a page.

shown_rows  Arrow rows → columns and cells: NULL is told apart, long values are cut, bytes are hexadecimal
"""
