"""Tables of the same lake that no cluster table tiers into: other people's, if we are asked to keep them.

others    Others: who may, which names are theirs, and what they do
requests  bodies of requests, with bounds
"""
