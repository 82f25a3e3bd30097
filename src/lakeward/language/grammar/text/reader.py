"""Reader: steps through the tokens of one statement, and says where and why it cannot go on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import NoReturn, TypedDict

from lakeward.language.grammar.text.lexer import Token
from lakeward.language.grammar.text.split import Piece
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.statement import Name

_LIKENESS = 0.7
#: Words that begin a statement, and seldom anything else at the start of a line.
_STARTERS = {"ALTER", "CREATE", "DELETE", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "MERGE", "SELECT", "SET"}
_STARTERS |= {"SHOW", "TRUNCATE", "UPDATE", "USE"}
_SHOWN_LENGTH = 30
_NUMBER_DIGITS_MAX = 9


class Head(TypedDict):
    """What every statement has."""

    text: str
    place: Place
    number: int


class Reader:
    """The statement's tokens, with the next one in front."""

    def __init__(self, piece: Piece, whole: str = "statement") -> None:
        self.piece = piece
        self.at = 0
        #: Whether a word was found that is probably misspelt.
        self.is_misspelt = False
        self._whole = whole
        self._tokens = piece.tokens

    @property
    def head(self) -> Head:
        """What every statement has, of this one."""
        return {"text": self.piece.text, "place": self.piece.place, "number": self.piece.number}

    def rest(self) -> Piece:
        """The tokens that are left, as a statement of their own."""
        if self.token is None:
            self.refuse("expected a statement, found the end.")
        return Piece(self.piece.script, self._tokens[self.at :], self.piece.number)

    @property
    def rest_text(self) -> str:
        """What is left, as it was written."""
        return "" if self.token is None else self.rest().text

    @property
    def token(self) -> Token | None:
        """The next token; None at the end."""
        return self._tokens[self.at] if self.at < len(self._tokens) else None

    @property
    def key(self) -> str:
        """The next word in capitals, or the next sign; empty at the end."""
        return self._tokens[self.at].key if self.at < len(self._tokens) else ""

    def comes(self, words: str) -> bool:
        """Whether these words and signs are next."""
        at = self.at
        for word in words.split():
            if at >= len(self._tokens) or self._tokens[at].key != word:
                return False
            at += 1
        return True

    def take(self, words: str) -> bool:
        """Step over these words and signs if they are next."""
        if not self.comes(words):
            return False
        self.at += len(words.split())
        return True

    def take_any(self, words: Collection[str], after: str = "") -> str:
        """Step over one of these words, or refuse."""
        key = self.key
        if key not in words:
            question = self.near(words) or self.asks_semicolon()
            self.refuse(f"expected {listing(words)}{after}, found {self.next_label}.{question}")
        self.at += 1
        return key

    def expect(self, words: str, after: str = "") -> None:
        """Step over these words and signs, or refuse."""
        for word in words.split():
            if self.key != word:
                self.refuse(f"expected '{word}'{after}, found {self.next_label}.{self.near([word])}")
            self.at += 1

    @property
    def next_label(self) -> str:
        """The next token as a message names it."""
        return label(self.token, self._whole)

    def near(self, words: Collection[str]) -> str:
        """A sentence that names the word that was probably meant; empty if none is like the next one."""
        token = self.token
        if token is None or token.kind != "word" or token.key in words:
            return ""
        close = get_close_matches(token.key, list(words), n=1, cutoff=_LIKENESS)
        self.is_misspelt = bool(close)
        return f" Did you mean {close[0]}?" if close else ""

    def asks_semicolon(self) -> str:
        """A question, if the next word looks like the start of another statement; else empty."""
        if self.at == 0 or self.key not in _STARTERS:
            return ""
        between = self.piece.script.text[self._tokens[self.at - 1].end : self._tokens[self.at].start]
        return " Is a ';' missing before it?" if "\n" in between else ""

    def name(self, what: str = "a name") -> str:
        """Step over one name, plain or in backticks."""
        token = self.token
        if token is None or token.kind not in {"word", "quoted"}:
            self.refuse(f"expected {what}, found {self.next_label}.")
        self.at += 1
        return token.value

    def full_name(self, what: str = "a table's name") -> Name:
        """Step over a name of one to three parts."""
        place = self.place()
        parts = [self.name(what)]
        while self.take("."):
            parts.append(self.name(what))
        if self.key == "-":
            self.refuse("a name has letters, digits and _; one with other characters is written in `backticks`.")
        if len(parts) > 3:
            self.refuse_at(place, f"'{'.'.join(parts)}' has {len(parts)} parts; expected [catalog.][database.]name.")
        return Name(tuple(parts), place)

    def names(self, what: str = "a column's name") -> tuple[str, ...]:
        """Step over names in brackets."""
        self.expect("(")
        names = [self.name(what)]
        while not self.take(")"):
            if not self.take(","):
                self.refuse(f"expected ')' or ',' after {names[-1]}, found {self.next_label}.")
            names.append(self.name(what))
        return tuple(names)

    def string(self, what: str = "a text in single quotes") -> str:
        """Step over a text."""
        token = self.token
        if token is None or token.kind not in {"text", "raw"}:
            self.refuse(f"expected {what}, found {self.next_label}.")
        self.at += 1
        return token.value

    def number(self, what: str) -> int:
        """Step over a whole number above zero."""
        token = self.token
        if token is None or not token.text.isdecimal() or len(token.text) > _NUMBER_DIGITS_MAX or not int(token.text):
            self.refuse(f"expected {what}, found {self.next_label}.")
        self.at += 1
        return int(token.text)

    def exists(self, words: str) -> bool:
        """Step over IF EXISTS or IF NOT EXISTS if that is next."""
        if self.key == "IF":
            self.expect(words)
            return True
        return False

    def end(self, others: str = "") -> None:
        """Refuse whatever is left; `others` is what might have stood there."""
        if self.token is not None:
            sentence = f"expected {others}the end of the {self._whole}, found {self.next_label}."
            self.refuse(sentence + self.asks_semicolon())

    def place(self, token: Token | None = None) -> Place:
        """Where a token stands; the next one unless told, and at the end right behind the last."""
        token = token or self.token
        return self.piece.script.place(self._tokens[-1].end if token is None else token.start)

    def refuse(self, sentence: str, token: Token | None = None) -> NoReturn:
        """Raise at a token; the next one unless told."""
        self.refuse_at(self.place(token), sentence)

    def refuse_at(self, place: Place, sentence: str) -> NoReturn:
        """Raise at a place."""
        raise ScriptError(place, sentence)


def label(token: Token | None, whole: str) -> str:
    """A token as a message names it."""
    if token is None:
        return f"the end of the {whole}"
    text = token.text.split("\n")[0]
    text = text if text == token.text and len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"
    return text if token.kind in {"text", "quoted"} else f"'{text}'"


def listing(words: Iterable[str]) -> str:
    """Words as a message lists what was expected."""
    *others, last = (f"'{word}'" if not word[0].isalpha() else word for word in words)
    return f"{', '.join(others)} or {last}" if others else last
