"""Exactly-once writes, with nothing but the official protocol (docs/decisions/0014).

Tasks: rows → encode → part (bytes, or a file). Driver: parts → manifest → append → done.

    commit/  on the driver: the parts of a batch id are appended, once, however often it is asked
    task/    in the tasks: rows in, one part out
    parts/   what both know: parts, manifests, the directory they lie in
"""

from lakeward.client.staged.commit.sink import CommitResult, StagedSink
from lakeward.client.staged.task.writer import StagedWriter

__all__ = ["CommitResult", "StagedSink", "StagedWriter"]
