"""What becomes of all rows of a batch, by one compiled loop.

program        what the loop is told of a merger
merge_kernels  the loop over a batch
row_kernels    … two rows made one
cell_kernels   … cells read, compared, computed with, written
"""
