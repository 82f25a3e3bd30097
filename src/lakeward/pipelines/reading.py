"""Files → PipelineDefinitions. Every mistake of every file is told at once; with one, there is no definition at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.language.plan.projection import read_condition, read_projection
from lakeward.options.kinds import LIST
from lakeward.pipelines.checks import FilledDocument, parse_name, parse_time_zone
from lakeward.pipelines.definition import End, PipelineDefinition, Route, Transform
from lakeward.pipelines.json_schema import schema_mistakes
from lakeward.pipelines.patterns import TablePattern
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.rows.part import Part
from lakeward.pipelines.rows.sinks import SINKS
from lakeward.pipelines.rows.sources import SOURCES
from lakeward.pipelines.rows.steps import STEPS, TABLE_OPTIONS_KIND
from lakeward.pipelines.text.document import Document, Path, read_documents
from lakeward.pipelines.text.mistake import Mistake, MistakesError
from lakeward.pipelines.text.references import References

_SCHEMA_DEFAULT = "public"
_BEHAVIOR = "schema.change.behavior"
#: What `pipeline` says of a definition by itself; the rest are settings.
_OWN = ("name", "parallelism", _BEHAVIOR, "local-time-zone", "execution.checkpointing.dir")


def read_pipelines(
    files: Sequence[tuple[str, str | Mistake]], environment: Mapping[str, str], references: References | None = None
) -> list[PipelineDefinition]:
    """The pipelines of some files, (name, text or why there is none) each; a MistakesError where anything is wrong."""
    mistakes: list[Mistake] = []
    found: list[PipelineDefinition] = []
    names: dict[str, str] = {}
    filler = references or References(environment)
    for file, text in files:
        documents, wrong = ([], [text]) if isinstance(text, Mistake) else read_documents(text, file)
        mistakes += wrong
        if not documents and not wrong:
            mistakes.append(Mistake(file, 1, 1, "the file holds no pipeline; expected 'source' and 'sink'."))
        for document in documents:
            before = len(mistakes)
            mistakes += schema_mistakes(document)
            definition = _Definition(document, filler, mistakes).read() if isinstance(document.value, dict) else None
            if definition is None:
                continue
            if definition.name in names:
                path: Path = ("pipeline", "name")
                told = f"a pipeline named '{definition.name}' is in {names[definition.name]} already; give each a name."
                mistakes.append(document.mistake(path, told))
            names.setdefault(definition.name, file)
            if len(mistakes) == before:
                found.append(definition)
    if mistakes:
        raise MistakesError(mistakes)
    return found


class _Definition:
    """One document on its way to a definition."""

    def __init__(self, document: Document, references: References, mistakes: list[Mistake]) -> None:
        self._doc = FilledDocument(document, references, mistakes)
        self._value: dict[str, Any] = document.value

    def read(self) -> PipelineDefinition:
        source, sink = self._end("source", SOURCES), self._end("sink", SINKS)
        settings = self._options(("pipeline",), STEPS["pipeline"])
        if "name" in settings:
            self._doc.read(("pipeline", "name"), parse_name, settings["name"], "'name'")
        zone = settings.get("local-time-zone")
        if zone is not None:
            self._doc.read(("pipeline", "local-time-zone"), parse_time_zone, zone, "'local-time-zone'")
        behavior = settings.get(_BEHAVIOR, SchemaChanges.LENIENT).lower()
        parallelism = settings.get("parallelism", "")
        return PipelineDefinition(
            name=settings.get("name") or _default_name(source, sink),
            file=self._doc.document.file,
            source=source,
            sink=sink,
            tables=self._tables(source),
            exclude=self._patterns(("source", "tables.exclude")),
            routes=tuple(filter(None, map(self._route, self._doc.items("route")))),
            transforms=tuple(filter(None, map(self._transform, self._doc.items("transform")))),
            parallelism=int(parallelism) if parallelism.isdecimal() else None,
            schema_changes=SchemaChanges(behavior) if behavior in set(SchemaChanges) else SchemaChanges.LENIENT,
            time_zone=zone,
            checkpoints=settings.get("execution.checkpointing.dir"),
            settings={key: value for key, value in settings.items() if key not in _OWN},
        )

    def _end(self, key: str, parts: Mapping[str, Part]) -> End:
        kind = str(self._doc.section((key,)).get("type", "")) if key in self._value else ""
        if kind not in parts:
            return End(kind, {})
        options = self._options((key,), parts[kind])
        return End(kind, options, frozenset(name for name in options if self._doc.is_secret((key, name))))

    def _options(self, path: Path, part: Part) -> dict[str, str]:
        return self._doc.options(path, part.options) if path[0] in self._value else {}

    def _tables(self, source: End) -> tuple[TablePattern, ...]:
        if "tables" in source.options:
            return self._patterns(("source", "tables"))
        space, name = source.options.get("database-name"), source.options.get("table-name")
        if source.type == "postgres":
            space = "|".join(LIST.parse(source.options.get("schema-name", _SCHEMA_DEFAULT)))
        if space is None or name is None:
            return ()

        def parse(text: str) -> TablePattern:
            return TablePattern(f"{space}.{text}", str(space), text)

        found = self._doc.read(("source", "table-name"), parse, name, "'table-name'")
        return () if found is None else (found,)

    def _patterns(self, path: Path) -> tuple[TablePattern, ...]:
        if path[0] not in self._value or (text := self._doc.text(path)) is None:
            return ()
        return self._doc.read(path, TablePattern.parse_list, text, f"'{path[-1]}'") or ()

    def _pattern(self, path: Path, options: Mapping[str, str]) -> TablePattern | None:
        if "source-table" not in options:
            return None
        return self._doc.read((*path, "source-table"), TablePattern.parse, options["source-table"], "'source-table'")

    def _route(self, path: Path) -> Route | None:
        options = self._options(path, STEPS["route"])
        source, target = self._pattern(path, options), options.get("sink-table")
        symbol = options.get("replace-symbol")
        if target is not None and symbol is not None and symbol not in target:
            where = (*path, "replace-symbol")
            self._doc.complain(where, f"'replace-symbol' {symbol} does not stand in 'sink-table' {target}.")
        if target is not None and "." not in target:
            self._doc.complain((*path, "sink-table"), f"'sink-table' is '{target}'; expected database.table.")
        if source is None or target is None:
            return None
        return Route(source, target, symbol, options.get("description"))

    def _transform(self, path: Path) -> Transform | None:
        options = self._options(path, STEPS["transform"])
        source = self._pattern(path, options)
        self._doc.expression((*path, "projection"), read_projection)
        self._doc.expression((*path, "filter"), read_condition)
        if source is None:
            return None
        return Transform(
            source,
            options.get("projection"),
            options.get("filter"),
            LIST.parse(options.get("primary-keys", "")),
            LIST.parse(options.get("partition-keys", "")),
            _table_options(options.get("table-options", "")),
            options.get("description"),
        )


def _table_options(text: str) -> dict[str, str]:
    try:
        return TABLE_OPTIONS_KIND.parse(text)
    except ValueError:  # noted as a mistake already
        return {}


def _default_name(source: End, sink: End) -> str:
    tables = source.options.get("database-name", "tables")
    return f"{source.type}-{tables}-to-{sink.type}"
