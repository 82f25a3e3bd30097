"""Texts, and what is made of them: hashes, URLs, encodings."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.functions.shape.form import Number, form
from lakeward.language.functions.shape.function import Call, Function, same

_DEFAULT_CHARSET = "'UTF-8'"
_LITERALLY = "concat('\\\\Q', {separator}, '\\\\E')"
_SPLIT = f"split(nullif({{text}}, ''), {_LITERALLY})"
_TOKENS = "regexp_extract_all({text}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0)"
_IN_RANGE = "{start} BETWEEN 1 AND char_length({text})"


def _rewrite_substring(call: Call) -> exp.Expression:
    """Plain where start and length are plain numbers; else with the edges of the guide's SQL."""
    holes = ", ".join(f"{{{index}}}" for index in range(len(call.arguments)))
    plain = f"substring({holes})"
    if all(_is_count(argument) for argument in call.arguments[1:]):
        return form(plain, call.arguments)
    text = f"if({{1}} < -char_length({{0}}), '', {plain})"
    if len(call.arguments) == 3:
        text = f"if({{2}} < 0, NULL, {text})"
    return form(text, call.arguments)


def _is_count(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _substring(name: str) -> Function:
    return Function(
        name=name,
        forms={
            "text, start": "substring({text}, {start})",
            "text, start, length": "substring({text}, {start}, {length})",
        },
        rewrite=_rewrite_substring,
        differs="A length below 0 gives NULL, a start before the text an empty text, as in the guide's SQL.",
    )


def _sha(bits: int) -> Function:
    return Function(name=f"SHA{bits}", forms={"text": f"sha2({{text}}, {bits})"})


TEXT = (
    Function(name="||", written="a || b", forms={"a, b": "{a} || {b}"}, differs="NULL if either is, in both."),
    same("CHAR_LENGTH", "text", gives=Number.WHOLE),
    same("CHARACTER_LENGTH", "text", gives=Number.WHOLE),
    same("UPPER", "text"),
    same("LOWER", "text"),
    Function(
        name="POSITION",
        written="POSITION(part IN text)",
        forms={"part, text": "locate({part}, {text})"},
        differs="From 1, and 0 where it is not found.",
    ),
    same("TRIM", "text"),
    Function(
        name="TRIM BOTH",
        written="TRIM(BOTH characters FROM text)",
        forms={"characters, text": "trim(BOTH {characters} FROM {text})"},
    ),
    Function(
        name="TRIM LEADING",
        written="TRIM(LEADING characters FROM text)",
        forms={"characters, text": "trim(LEADING {characters} FROM {text})"},
    ),
    Function(
        name="TRIM TRAILING",
        written="TRIM(TRAILING characters FROM text)",
        forms={"characters, text": "trim(TRAILING {characters} FROM {text})"},
    ),
    Function(
        name="LTRIM", forms={"text": "ltrim({text})", "text, characters": "trim(LEADING {characters} FROM {text})"}
    ),
    Function(
        name="RTRIM", forms={"text": "rtrim({text})", "text, characters": "trim(TRAILING {characters} FROM {text})"}
    ),
    Function(name="BTRIM", forms={"text": "btrim({text})", "text, characters": "trim(BOTH {characters} FROM {text})"}),
    same("REPEAT", "text, times"),
    same("REPLACE", "text, part, by"),
    same("TRANSLATE", "text, from, to"),
    same("REGEXP_REPLACE", "text, regex, by", differs="A regular expression that is none fails; Flink gives NULL."),
    Function(
        name="REGEXP_EXTRACT",
        forms={
            "text, regex": "if({text} RLIKE {regex}, regexp_extract({text}, {regex}, 0), NULL)",
            "text, regex, group": "if({text} RLIKE {regex}, regexp_extract({text}, {regex}, {group}), NULL)",
        },
        differs="Without a group the whole match (Spark's own default is group 1), NULL without a match (Spark's own "
        "is an empty text). A group that took no part in the match is an empty text.",
    ),
    same("REGEXP", "text, regex"),
    same("REGEXP_COUNT", "text, regex"),
    same("REGEXP_EXTRACT_ALL", "text, regex", "text, regex, group"),
    same("REGEXP_INSTR", "text, regex"),
    same("REGEXP_SUBSTR", "text, regex"),
    Function(
        name="OVERLAY",
        written="OVERLAY(text PLACING by FROM start [FOR length])",
        forms={
            "text, by, start": f"if({_IN_RANGE}, overlay({{text}} PLACING {{by}} FROM {{start}}), {{text}})",
            "text, by, start, length": f"if({_IN_RANGE}, overlay({{text}} PLACING {{by}} FROM {{start}} FOR {{length}})"
            ", {text})",
        },
        differs="A start outside the text leaves it as it is.",
    ),
    _substring("SUBSTRING"),
    _substring("SUBSTR"),
    Function(
        name="INITCAP",
        forms={
            "text": f"array_join(transform({_TOKENS}, word -> if(word RLIKE '^[A-Za-z0-9]', initcap(word), word)), '')"
        },
        differs="Words are runs of letters and digits, as in the guide's SQL; Spark's own are what blanks part.",
    ),
    same("CONCAT", "values…"),
    same("CONCAT_WS", "separator, values…"),
    same("LPAD", "text, length, filler"),
    same("RPAD", "text, length, filler"),
    Function(name="FROM_BASE64", forms={"text": f"decode(unbase64({{text}}), {_DEFAULT_CHARSET})"}),
    Function(
        name="TO_BASE64", forms={"text": f"translate(base64(encode({{text}}, {_DEFAULT_CHARSET})), '\\r\\n', '')"}
    ),
    same("ASCII", "text"),
    same("CHR", "code"),
    same("DECODE", "bytes, charset"),
    same("ENCODE", "text, charset"),
    same("INSTR", "text, part"),
    same("LOCATE", "part, text", "part, text, start"),
    same("LEFT", "text, length"),
    same("RIGHT", "text, length"),
    same("REVERSE", "text"),
    Function(
        name="ELT",
        forms={"index, texts…": "get(array({texts…}), {index} - 1)"},
        differs="NULL beyond the last; Spark's own fails.",
    ),
    same("PRINTF", "format, values…"),
    same("STARTSWITH", "text, start"),
    same("ENDSWITH", "text, end"),
    Function(
        name="SPLIT_INDEX",
        forms={"text, separator, index": f"get({_SPLIT}, {{index}})"},
        differs="The index begins at 0; NULL where there is no such part.",
    ),
    Function(
        name="SPLIT",
        forms={"text, separator": f"split({{text}}, {_LITERALLY})"},
        differs="The separator is a text; that of Spark's own is a regular expression.",
    ),
    Function(
        name="STR_TO_MAP",
        forms={
            "text": "str_to_map({text}, ',', '=')",
            "text, pairs, keys": "str_to_map({text}, {pairs}, {keys})",
        },
        differs="Keys are parted from values by `=` where nothing is said; Spark's own by `:`. A key that comes twice "
        "fails; Flink keeps the last.",
    ),
    Function(
        name="PARSE_URL",
        forms={"url, part": "try_parse_url({url}, {part})", "url, part, key": "try_parse_url({url}, {part}, {key})"},
        differs="NULL where the URL is none.",
    ),
    same("URL_ENCODE", "text"),
    Function(
        name="URL_DECODE", forms={"text": "try_url_decode({text})"}, differs="NULL where the text is no encoded one."
    ),
    same("MD5", "text"),
    same("SHA1", "text"),
    *(_sha(bits) for bits in (224, 256, 384, 512)),
    same("SHA2", "text, bits"),
    Function(
        name="HASH_CODE",
        forms={"value": ""},
        refusal="Java's hash of a value is not known to Spark; use XXHASH64(value) or MD5(value)",
    ),
)
