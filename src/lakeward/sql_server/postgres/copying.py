"""COPY … TO STDOUT: what is asked for, and rows in the forms that it has: text, CSV, binary."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.codec.row_bytes import copy_lines, data_rows
from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token
from lakeward.sql_server.postgres.codec.values_text import text_values
from lakeward.sql_server.postgres.states import StateError

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_ESCAPED = (
    (b"\\", b"\\\\"),
    (b"\n", b"\\n"),
    (b"\r", b"\\r"),
    (b"\t", b"\\t"),
    (b"\b", b"\\b"),
    (b"\f", b"\\f"),
    (b"\v", b"\\v"),
)
_BACKSLASHES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
_FILLERS = {"WITH", "(", ")", ",", "AS"}
_YES = {"TRUE", "ON", "1", "'TRUE'", "'ON'"}


@dataclass(slots=True)
class CopyForm:
    """How rows are written; a NULL is `null`."""

    kind: str = "text"
    header: bool = False
    delimiter: bytes = b""
    null: bytes | None = None
    quote: bytes = b'"'
    _signature: bytes = b""

    def begin(self, names: list[str]) -> bytes:
        """What comes before the rows."""
        start = m.copy_out(is_binary=self.kind == "binary", columns=len(names))
        self._signature = _SIGNATURE if self.kind == "binary" else b""
        if not self.header:
            return start
        line = pa.RecordBatch.from_arrays([pa.array([name]) for name in names], names)
        return start + bytes(self.rows(line))

    def rows(self, batch: pa.RecordBatch) -> memoryview:
        """The rows of a batch, one message each."""
        if self.kind == "binary":
            forms = [1] * batch.num_columns
            if self._signature and batch.num_rows:
                first = bytes(data_rows(batch.slice(0, 1), forms, letter=b"d"))[5:]
                return memoryview(self._message(first) + bytes(data_rows(batch.slice(1), forms, letter=b"d")))
            return data_rows(batch, forms, letter=b"d")
        cells = self._csv_cells if self.kind == "csv" else self._text_cells
        return copy_lines(batch, cells, self.delimiter or (b"," if self.kind == "csv" else b"\t"))

    def end(self) -> bytes:
        """What comes after them."""
        trailer = self._message(struct.pack("!h", -1)) if self.kind == "binary" else b""
        return trailer + m.COPY_DONE

    def _message(self, body: bytes) -> bytes:
        """The next message; what a stream begins with stands in front of the first one, as Postgres has it."""
        begin, self._signature = self._signature, b""
        return m.message(b"d", begin + body)

    def _text_cells(self, column: pa.Array) -> pa.Array:
        cells = text_values(column)
        for sign, written in _ESCAPED:
            cells = pc.replace_substring(cells, sign, written)
        if self.delimiter and self.delimiter != b"\t":
            cells = pc.replace_substring(cells, self.delimiter, b"\\" + self.delimiter)
        return pc.fill_null(cells, _bytes(b"\\N" if self.null is None else self.null))

    def _csv_cells(self, column: pa.Array) -> pa.Array:
        cells, null, quote = text_values(column), self.null or b"", _bytes(self.quote)
        special = re.escape((self.delimiter or b",") + self.quote) + rb"\n\r"
        needs = pc.or_(pc.match_substring_regex(cells, b"[" + special + b"]"), pc.equal(cells, _bytes(null)))
        doubled = pc.replace_substring(cells, self.quote, self.quote * 2)
        quoted = pc.binary_join_element_wise(quote, doubled, quote, _bytes(b""))
        return pc.fill_null(pc.if_else(needs, quoted, cells), _bytes(null))


def copied_of(statement: SqlText) -> tuple[str, CopyForm]:
    """The question of a COPY, and the form of its rows."""
    tokens = statement.tokens
    uppers = [token.upper for token in tokens]
    if "TO" not in uppers or "STDOUT" not in uppers:
        if "TO" in uppers and "FROM" not in uppers[uppers.index("TO") :]:
            raise StateError("42501", "COPY writes to STDOUT here, and to no file of the server.", "psql has \\copy.")
        raise StateError("25006", "cannot execute COPY FROM in a read-only transaction")
    end = len(uppers) - 1 - uppers[::-1].index("TO")
    if tokens[1].text == "(":
        source = statement.sql[tokens[1].at : tokens[end].at]
    else:
        opened = next((n for n in range(1, end) if tokens[n].text == "("), end)
        table = statement.sql[tokens[1].at : tokens[opened].at]
        columns = statement.sql[tokens[opened].at : tokens[end].at].strip()[1:-1] or "*"
        source = f"SELECT {columns} FROM {table}"  # noqa: S608 - looked at as any question
    return source, _form([token for token in tokens[end + 2 :] if token.upper not in _FILLERS])


def _form(words: list[Token]) -> CopyForm:
    form, left = CopyForm(), iter(words)
    ahead: Token | None = None
    while (token := ahead or next(left, None)) is not None:
        ahead = None
        match token.upper if token.kind == "word" else token.name.upper():
            case "FORMAT":
                form.kind = _name(next(left, None))
            case "CSV" | "BINARY" | "TEXT" as kind:
                form.kind = kind.lower()
            case "HEADER":
                ahead = next(left, None)
                said = None if ahead is None else ahead.upper
                form.header = said not in {"FALSE", "OFF", "0"}
                ahead = None if said in _YES | {"FALSE", "OFF", "0", "MATCH"} else ahead
            case "DELIMITER" | "NULL" | "QUOTE" | "ESCAPE" | "ENCODING" as option:
                _set(form, option, _text(next(left, None)))
            case other:
                raise StateError("0A000", f"COPY does not know the option {other} here.")
    if form.kind not in {"text", "csv", "binary"}:
        raise StateError("22023", f'COPY format "{form.kind}" not recognized')
    return form


def _set(form: CopyForm, option: str, value: str) -> None:
    if option in {"DELIMITER", "QUOTE"} and (len(value.encode()) != 1 or value in "\\\r\n"):
        raise StateError("22023", f"COPY {option.lower()} must be a single one-byte character")
    if option == "DELIMITER":
        form.delimiter = value.encode()
    elif option == "QUOTE":
        form.quote = value.encode()
    elif option == "NULL":
        form.null = value.encode()
    elif (option, value.upper().replace("-", "")) not in {("ENCODING", "UTF8"), ("ESCAPE", form.quote.decode())}:
        raise StateError("0A000", f"COPY writes UTF-8 and doubles quotes: {option} {value} is not done.")


def _name(token: Token | None) -> str:
    return "" if token is None else (_text(token) if token.kind == "text" else token.name).lower()


def _text(token: Token | None) -> str:
    if token is None or token.kind != "text":
        raise StateError("42601", "An option of COPY lacks its text.")
    if token.text[:1] in "eE":
        return re.sub(r"\\(.)", lambda found: _BACKSLASHES.get(found[1], found[1]), token.text[2:-1], flags=re.DOTALL)
    return token.text[1:-1].replace("''", "'")


def _bytes(value: bytes) -> pa.Scalar:
    return pa.scalar(value, pa.large_binary())
