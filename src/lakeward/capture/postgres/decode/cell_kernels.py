"""Compiled loops over cells: text in a buffer, by column and row."""

from __future__ import annotations

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.spans import I64, U8

_BACKSLASH, _TAB, _NEWLINE, _QUOTE = ord("\\"), ord("\t"), ord("\n"), ord('"')
_N, _U, _L = ord("N"), ord("U"), ord("L")
_OPEN, _CLOSE, _COMMA = ord("{"), ord("}"), ord(",")
_NULL = -1
_b, _f, _n, _r, _t, _v = (ord(letter) for letter in "bfnrtv")
#: What `count_items` says of an array that is not a plain list.
ODD = -2


@kernel
def gather(data: U8, starts: I64, offsets: I64, out: U8) -> None:
    """Cells of one column behind each other; `offsets`, n + 1, are given."""
    for n in range(len(starts)):
        to, start = offsets[n], starts[n]
        for k in range(offsets[n + 1] - to):
            out[to + k] = data[start + k]


@kernel_part
def _plain(letter: int) -> int:
    """What a letter behind a backslash stands for."""
    if letter == _n:
        return _NEWLINE
    if letter == _t:
        return _TAB
    if letter == _r:
        return 13
    if letter == _b:
        return 8
    if letter == _f:
        return 12
    if letter == _v:
        return 11
    return letter


@kernel
def read_copy(data: U8, out: U8, starts: I64, lengths: I64) -> int:
    """Lines of COPY in its text format → cells in `out`. Returns the rows, -1 where a line has another shape."""
    columns = starts.shape[0]
    column, row, at, to = 0, 0, 0, 0
    begin, is_null = 0, False
    while at < len(data):
        letter = data[at]
        at += 1
        if letter in (_TAB, _NEWLINE):
            if column >= columns:
                return -1
            starts[column, row] = begin
            lengths[column, row] = _NULL if is_null else to - begin
            begin, is_null = to, False
            column += 1
            if letter == _NEWLINE:
                if column != columns:
                    return -1
                column = 0
                row += 1
        elif letter == _BACKSLASH:
            letter = data[at]
            at += 1
            if letter == _N:
                is_null = True
            else:
                out[to] = _plain(letter)
                to += 1
        else:
            out[to] = letter
            to += 1
    return row


@kernel
def key_sizes(lengths: I64, columns: I64, out: I64) -> None:
    """Bytes that `write_keys` takes for each row."""
    for row in range(len(out)):
        size = 0
        for column in columns:
            length = lengths[column, row]
            size += 5 + (max(0, length))
        out[row] = size


@kernel
def write_keys(data: U8, starts: I64, lengths: I64, columns: I64, offsets: I64, out: U8) -> None:
    """Some columns of each row as one stretch of bytes, such that different values make different stretches."""
    for row in range(starts.shape[1]):
        to = offsets[row]
        for column in columns:
            length = lengths[column, row]
            out[to] = 0 if length < 0 else 1
            size = max(0, length)
            for n in range(4):
                out[to + 1 + n] = (size >> (8 * n)) & 255
            start = starts[column, row]
            for n in range(size):
                out[to + 5 + n] = data[start + n]
            to += 5 + size


@kernel_part
def _nibble(letter: int) -> int:
    return letter - 48 if letter < 58 else letter - 87


@kernel
def read_hex(data: U8, starts: I64, offsets: I64, out: U8) -> None:
    r"""Bytes of cells such as \x00ff; `offsets`, n + 1, are given."""
    for n in range(len(starts)):
        at = starts[n] + 2
        for to in range(offsets[n], offsets[n + 1]):
            out[to] = _nibble(data[at]) * 16 + _nibble(data[at + 1])
            at += 2


@kernel_part
def _array_start(data: U8, at: int, end: int) -> int:
    """Behind the opening brace; bounds such as [2:3]= are passed over."""
    while at < end and data[at] != _OPEN:
        at += 1
    return at + 1


@kernel
def count_items(data: U8, starts: I64, lengths: I64, counts: I64) -> int:
    """How many items each array such as {1,NULL,"a b"} has, -1 for NULL, ODD where arrays are nested; their sum."""
    total = 0
    for n in range(len(starts)):
        counts[n] = min(0, lengths[n])
        if lengths[n] < 0:
            continue
        end = starts[n] + lengths[n]
        at = _array_start(data, starts[n], end)
        in_quotes, count = False, 0 if data[at] == _CLOSE else 1
        while at < end:
            letter = data[at]
            if letter == _BACKSLASH:
                at += 1
            elif letter == _QUOTE:
                in_quotes = not in_quotes
            elif not in_quotes and letter == _COMMA:
                count += 1
            elif not in_quotes and letter == _OPEN:
                count = ODD
                break
            at += 1
        counts[n] = count
        total += max(count, 0)
    return total


@kernel_part
def _is_null_word(data: U8, begin: int, end: int) -> bool:
    if end - begin != 4 or data[begin] != _N or data[begin + 1] != _U:
        return False
    return bool(data[begin + 2] == _L and data[begin + 3] == _L)


@kernel
def read_items(data: U8, starts: I64, lengths: I64, counts: I64, out: U8, cells: I64) -> None:
    """Items of arrays, one behind the other: `cells` has where each starts in `out`, and its length."""
    item, to = 0, 0
    for n in range(len(starts)):
        if counts[n] <= 0:
            continue
        end = starts[n] + lengths[n]
        at = _array_start(data, starts[n], end)
        begin, in_quotes, had_quotes = to, False, False
        while at < end:
            letter = data[at]
            at += 1
            if not in_quotes and (letter == _COMMA or (letter == _CLOSE and at == end)):
                is_null = not had_quotes and _is_null_word(out, begin, to)
                cells[0, item], cells[1, item] = begin, _NULL if is_null else to - begin
                item += 1
                begin, had_quotes = to, False
            elif letter == _QUOTE:
                in_quotes, had_quotes = not in_quotes, True
            else:
                if letter == _BACKSLASH:
                    letter = data[at]
                    at += 1
                out[to] = letter
                to += 1
