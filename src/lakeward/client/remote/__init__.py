"""Log segments that moved to a file store, read where they are.

    segment           what a server says of a segment: where it is, its offsets, its size
    history_reader    segments → batches: by columns where that is cheaper, whole where it is not
    column_plan       which stretches of a segment hold the wanted columns; batches made of them
    segment_reader    segments → whole batches, checked for order; pieces ahead of the reader, more the longer it reads
    piece_cutter      a piece and what the one before left over → whole batches for the decoder
    sources           which source reads a URL; what all reads of one connection share
    directory_source  pieces read from a directory that this machine sees
    object_source     pieces got from an object store, a few at a time
    access            stores opened with what the server hands out: tokens, renewed in time or when they are refused
    piece_cache       pieces on disk, bounded, shared by all scans of a process
    cache_directory   the directory they are in: gone at the end, and swept when a process was killed

A piece is a stretch of a segment of fixed size, so memory and disk are bounded however large segments are, and a reader
that wants ten rows gets one piece. Who wants few columns of large batches gets only those, checked by sums that lie
beside the segment.
"""
