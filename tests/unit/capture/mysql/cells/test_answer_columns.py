"""Recorded bytes of a MariaDB's answer to a prepared SELECT."""

from __future__ import annotations

import numpy as np
import pytest
from mysql_matrix import MATRIX, ROWS, read
from mysql_recording import LONGEST, OPTIONS, Recording

from lakeward.capture.mysql.cells.answer_columns import column_of_answer
from lakeward.capture.mysql.cells.cells import Cells
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.mysql.schema.tables import column_forms, find_tables
from lakeward.capture.mysql.server.packets import PacketReader
from lakeward.capture.mysql.server.wire_kernels import cut_fields


@pytest.mark.parametrize("piece_bytes", [5, 1 << 20])
def test_every_type_is_read(piece_bytes: int) -> None:
    """NULLs and extremes included; the same values as from the binlog."""
    recording, settings = Recording(), MysqlSettings.of(OPTIONS)
    forms = column_forms(find_tables(recording.query, settings)[0], settings.rules)
    (block,) = PacketReader(recording.source("select", piece_bytes))
    starts = np.empty((len(forms), len(block.starts)), np.int64)
    lengths = np.empty(starts.shape, np.int32)
    assert cut_fields(block.data, block.starts, block.lengths, np.array(recording.sizes), starts, lengths) == -1
    columns = [column_of_answer(form, Cells(block.data, starts[i], lengths[i])) for i, form in enumerate(forms)]
    order = np.argsort(columns[0].to_numpy() % 100)
    for number, native in enumerate(MATRIX):
        values = [columns[number + 1].to_pylist()[row] for row in order]
        expected = [read(row, longest=LONGEST)[number] for row in range(ROWS)]
        assert values == ([expected[0], expected[1], 5, *expected[3:]] if number == 0 else expected), native
