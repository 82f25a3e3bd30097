"""Bitmaps that aggregate functions unite.

roaring             bitmaps of 32 bits
roaring64           … of 64
roaring_containers  the containers of both
"""
