"""Functions that tools call of Postgres, and tables of it that stay empty here."""

from __future__ import annotations

from lakeward.sql_server.postgres.codec.pg_types import ARRAYS, RECEIVERS, TYPES

_NOTHING = "CAST(NULL AS VARCHAR)"
_INDEX = (
    "(SELECT 'CREATE UNIQUE INDEX ' || m_c.relname || ' ON t USING btree ' || "
    "replace(m_k.definition, 'PRIMARY KEY ', '') "
    "FROM pgc.pg_class m_c JOIN pgc.pg_constraint m_k ON m_k.conindid = m_c.oid WHERE m_c.oid = o)"
)
_KEY = (
    "(SELECT m_a.attname FROM pgc.pg_index m_i JOIN pgc.pg_attribute m_a "
    "ON m_a.attrelid = m_i.indrelid AND m_a.attnum = m_i.indkey[n] WHERE m_i.indexrelid = o)"
)
_CONSTRAINT = "(SELECT m_k.definition FROM pgc.pg_constraint m_k WHERE m_k.oid = o)"
_IS_PLAIN = "regexp_full_match(s, '[a-z_][a-z0-9_]*')"
_MAY = "regexp_matches(lower(p), 'select|usage|connect')"
#: Functions by name: arguments, and what they come to. DuckDB puts arguments in as they are: no name of a table in
#: here may be one that somebody uses in a question.
_FUNCTIONS: dict[str, dict[str, str]] = {
    "format_type": {
        "o, m": "CASE WHEN o = 1700 AND m >= 4 THEN 'numeric(' || ((m - 4) >> 16) || ',' || ((m - 4) & 65535) || ')' "
        "ELSE (SELECT m_n.sql FROM pgc.type_names m_n WHERE m_n.oid = o) END"
    },
    "is_in": {
        "s, o": "(o IN (SELECT m_c.oid FROM pgc.pg_class m_c JOIN pgc.pg_namespace m_n ON m_n.oid = m_c.relnamespace "
        "WHERE m_n.nspname = s))"
    },
    "pg_get_constraintdef": {"o": _CONSTRAINT, "o, p": _CONSTRAINT},
    "pg_get_indexdef": {
        "o": _INDEX,
        "o, n, p": "CASE WHEN n = 0 THEN " + _INDEX + " ELSE " + _KEY + " END",
    },
    "obj_description": {
        "o": _NOTHING,
        "o, c": "(SELECT d_.description FROM pgc.pg_description d_ WHERE d_.objoid = o AND d_.objsubid = 0 LIMIT 1)",
    },
    "regclass_oid": {
        # Names without a schema are of schema `s`, or of any where that is NULL.
        "s, t": "CASE WHEN t IN ('pg_catalog.pg_class', 'pg_class') THEN 1259 ELSE (SELECT m_c.oid FROM pgc.pg_class "
        "m_c JOIN pgc.pg_namespace m_n ON m_n.oid = m_c.relnamespace WHERE m_c.relkind IN ('r', 'i') AND "
        "replace(t, '\"', '') IN (CASE WHEN m_n.nspname = coalesce(s, m_n.nspname) THEN m_c.relname END, "
        "m_n.nspname || '.' || m_c.relname) LIMIT 1) END"
    },
    "to_regclass": {"s, t": "pgc.regclass_oid(s, t)"},
    "regtype_oid": {"t": "(SELECT m_y.oid FROM pgc.pg_type m_y WHERE m_y.typname = t LIMIT 1)"},
    "to_regtype": {"t": "(SELECT m_y.oid FROM pgc.pg_type m_y WHERE m_y.typname = t LIMIT 1)"},
    "regnamespace_oid": {"t": "(SELECT m_n.oid FROM pgc.pg_namespace m_n WHERE m_n.nspname = t LIMIT 1)"},
    "regproc_oid": {"t": "CASE WHEN replace(t, 'pg_catalog.', '') = 'array_in' THEN 750 ELSE 0 END"},
    "setting_of": dict.fromkeys(
        ("n", "n, m"), "(SELECT m_s.setting FROM pgc.pg_settings m_s WHERE m_s.name = lower(n))"
    ),
    "_pg_expandarray": {"l": "unnest(list_transform(l, lambda x, n: struct_pack(x := x, n := n)))"},
    "pg_get_userbyid": {"o": "(SELECT m_r.rolname FROM pgc.pg_roles m_r LIMIT 1)"},
    "pg_get_expr": {"a, b": _NOTHING, "a, b, c": _NOTHING},
    "pg_get_viewdef": {"o": _NOTHING, "o, p": _NOTHING},
    "pg_encoding_to_char": {"e": "'UTF8'"},
    "array_to_string": {"l, s": "CASE WHEN l IS NULL THEN NULL ELSE list_aggregate(l, 'string_agg', s) END"},
    "pg_advisory_unlock_all": {"": _NOTHING},
    "pg_tablespace_location": {"o": "''"},
    "pg_char_to_encoding": {"e": "6"},
    "pg_function_is_visible": {"o": "true"},
    "pg_stat_get_numscans": {"o": "0"},
    "array_lower": {"l, d": "CASE WHEN len(l) > 0 THEN 1 END"},
    "procedure_name": {"o": "coalesce((SELECT m_p.proname FROM pgc.pg_proc m_p WHERE m_p.oid = o LIMIT 1), '-')"},
    "format": {
        "f, a": "regexp_replace(f, '%[sIL]', a)",
        "f, a, b": "regexp_replace(regexp_replace(f, '%[sIL]', a), '%[sIL]', b)",
    },
    "array_upper": {"l, d": "CASE WHEN l IS NULL THEN NULL ELSE len(l) END"},
    "quote_ident": {"s": f"CASE WHEN {_IS_PLAIN} THEN s ELSE '\"' || replace(s, '\"', '\"\"') || '\"' END"},
    "parse_ident": {"s": "string_split(replace(s, '\"', ''), '.')"},
    "pg_get_serial_sequence": {"t, c": _NOTHING},
    "col_description": {"o, n": _NOTHING},
    "shobj_description": {"o, c": _NOTHING},
    "pg_relation_is_publishable": {"o": "false"},
    **{
        f"pg_{what}_is_visible": {"o": "true"}
        for what in ("table", "type", "opclass", "operator", "collation", "conversion")
    },
    **{f"pg_{what}_is_visible": {"o": "true"} for what in ("statistics_obj", "ts_config", "ts_dict")},
    # Everybody reads what they are told of, and nobody writes by SQL.
    **{
        f"has_{what}_privilege": {"o, p": _MAY, "u, o, p": _MAY} for what in ("schema", "table", "database", "sequence")
    },
    "has_column_privilege": {"o, c, p": _MAY, "u, o, c, p": _MAY},
    "has_any_column_privilege": {"o, p": _MAY, "u, o, p": _MAY},
    **{f"pg_{what}_size": {"o": "0"} for what in ("relation", "total_relation", "table", "indexes", "database")},
    "pg_tablespace_size": {"o": "0"},
    **{f"pg_get_{what}": {"o": _NOTHING} for what in ("function_result", "function_arguments", "partkeydef")},
    "pg_get_statisticsobjdef_columns": {"o": _NOTHING},
}
FUNCTIONS = frozenset(_FUNCTIONS)

#: Tables without a row, and the columns that tools ask for: `#` numbers, `?` yes or no, `[]` lists of numbers, `*` of
#: texts.
_EMPTY = {
    "pgc.pg_attrdef": "oid# adrelid# adnum# adbin",
    "pgc.pg_proc": (
        "oid# proname pronamespace# prokind prorettype# proargtypes[] proowner# prolang# prosrc proargnames* "
        "proargmodes* proallargtypes[] proretset? pronargs# pronargdefaults# proargdefaults provariadic#"
    ),
    "pgc.pg_collation": "oid# collname collnamespace#",
    "pgc.pg_enum": "oid# enumtypid# enumsortorder# enumlabel",
    "pgc.pg_range": "rngtypid# rngsubtype# rngmultitypid# rngcollation# rngsubopc# rngcanonical# rngsubdiff#",
    "pgc.pg_inherits": "inhrelid# inhparent# inhseqno# inhdetachpending?",
    "pgc.pg_sequence": "seqrelid# seqtypid# seqstart# seqincrement# seqmax# seqmin# seqcache# seqcycle?",
    "pgc.pg_trigger": (
        "oid# tgrelid# tgname tgenabled tgisinternal? tgparentid# tgconstraint# tgfoid# tgdeferrable? tginitdeferred? "
        "tgtype#"
    ),
    "pgc.pg_rewrite": "oid# rulename ev_class# ev_enabled ev_type",
    "pgc.pg_policy": "oid# polname polrelid# polcmd polpermissive? polroles[] polqual polwithcheck",
    "pgc.pg_publication": (
        "oid# pubname puballtables? pubowner# pubinsert? pubupdate? pubdelete? pubtruncate? pubviaroot?"
    ),
    "pgc.pg_publication_rel": "oid# prpubid# prrelid# prqual prattrs[]",
    "pgc.pg_publication_namespace": "oid# pnpubid# pnnspid#",
    "pgc.pg_statistic_ext": "oid# stxrelid# stxname stxnamespace# stxkind[] stxstattarget#",
    "pgc.pg_foreign_data_wrapper": "oid# fdwname fdwowner# fdwhandler# fdwvalidator# fdwacl* fdwoptions*",
    "pgc.pg_user_mapping": "oid# umuser# umserver# umoptions*",
    "pgc.pg_db_role_setting": "setdatabase# setrole# setconfig*",
    "pgc.pg_default_acl": "oid# defaclrole# defaclnamespace# defaclobjtype defaclacl*",
    "pgc.pg_cast": "oid# castsource# casttarget# castfunc# castcontext castmethod",
    "pgc.pg_operator": "oid# oprname oprnamespace# oprowner# oprkind oprleft# oprright# oprresult# oprcode#",
    "pgc.pg_conversion": "oid# conname connamespace# conowner# conforencoding# contoencoding# condefault?",
    "pgc.pg_aggregate": "aggfnoid# aggkind aggnumdirectargs#",
    "pgc.pg_stat_activity": (
        "datid# datname pid# usesysid# usename application_name client_addr state query backend_type wait_event"
    ),
    "pgc.pg_stat_user_tables": "relid# schemaname relname seq_scan# n_live_tup# n_dead_tup# last_analyze last_vacuum",
    "pgc.pg_stat_all_tables": "relid# schemaname relname seq_scan# n_live_tup# n_dead_tup# last_analyze last_vacuum",
    "pgc.pg_locks": "locktype database# relation# pid# mode granted?",
    "pgc.pg_sequences": "schemaname sequencename sequenceowner",
    "pgc.pg_rules": "schemaname tablename rulename definition",
    "pgc.pg_keywords": "word catcode catdesc",
    "pgc.pg_extension": "oid# extname extnamespace# extversion",
    "pgc.pg_foreign_table": "ftrelid# ftserver# ftoptions",
    "pgc.pg_foreign_server": "oid# srvname srvowner# srvfdw# srvtype srvversion srvacl* srvoptions*",
    "pgc.pg_partitioned_table": "partrelid# partstrat partnatts#",
    "pgc.pg_language": "oid# lanname lanowner# lanispl? lanpltrusted? lanplcallfoid# laninline# lanvalidator# lanacl*",
    "pgc.pg_depend": "classid# objid# objsubid# refclassid# refobjid# refobjsubid# deptype",
    "pgc.pg_shdescription": "objoid# classoid# description",
    "pgc.pg_matviews": "schemaname matviewname",
    "pgc.pg_views": "schemaname viewname viewowner definition",
    "pgc.pg_opclass": "oid# opcname opcdefault?",
    "pgc.pg_auth_members": "roleid# member# grantor# admin_option?",
    "ischema.views": "table_catalog table_schema table_name view_definition",
    "ischema.referential_constraints": (
        "constraint_catalog constraint_schema constraint_name unique_constraint_name update_rule delete_rule"
    ),
    "ischema.constraint_column_usage": "table_catalog table_schema table_name column_name constraint_name",
    "ischema.character_sets": "character_set_catalog character_set_schema character_set_name default_collate_name",
    "ischema.routines": "routine_catalog routine_schema routine_name",
    "ischema.sequences": "sequence_catalog sequence_schema sequence_name",
}
_KEYWORDS = ("ilike", "limit", "offset", "pivot", "qualify", "sample", "unpivot")
_KINDS = {"#": "BIGINT", "?": "BOOLEAN", "]": "BIGINT[]", "*": "VARCHAR[]"}
_VIEWS = {
    "pg_tables": (
        "SELECT n.nspname AS schemaname, c.relname AS tablename, r.rolname AS tableowner, '' AS tablespace, "
        "c.relhasindex AS hasindexes, false AS hasrules, false AS hastriggers, false AS rowsecurity "
        "FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace, pgc.pg_roles r WHERE c.relkind = 'r'"
    ),
    "pg_indexes": (
        "SELECT n.nspname AS schemaname, t.relname AS tablename, c.relname AS indexname, '' AS tablespace, "
        "pgc.pg_get_indexdef(c.oid) AS indexdef FROM pgc.pg_index i JOIN pgc.pg_class c ON c.oid = i.indexrelid "
        "JOIN pgc.pg_class t ON t.oid = i.indrelid JOIN pgc.pg_namespace n ON n.oid = c.relnamespace"
    ),
    "pg_user": "SELECT rolname AS usename, oid AS usesysid, rolsuper AS usesuper FROM pgc.pg_roles",
    "pg_authid": "SELECT * FROM pgc.pg_roles",
    "pg_tablespace": (
        "SELECT 1663::BIGINT AS oid, 'pg_default' AS spcname, oid AS spcowner, NULL::VARCHAR[] AS spcacl, "
        "NULL::VARCHAR[] AS spcoptions FROM pgc.pg_roles LIMIT 1"
    ),
}
#: Rows that give columns their types where there would be none, and values likewise; nobody is to see them.
_FILLERS = (
    "DELETE FROM pgc.pg_class WHERE relkind = '?'",
    "DELETE FROM pgc.pg_attribute WHERE attrelid = 1",
    "DELETE FROM pgc.pg_index WHERE indrelid = 0",
    "DELETE FROM pgc.pg_constraint WHERE contype = '?'",
    "DELETE FROM pgc.pg_description WHERE objoid = 0",
    "DELETE FROM ischema.tables WHERE table_name = ''",
    "DELETE FROM ischema.columns WHERE table_name = ''",
    "DELETE FROM ischema.key_column_usage WHERE table_name = ''",
    "DELETE FROM ischema.table_constraints WHERE table_name = ''",
    "UPDATE ischema.columns SET column_default = NULL",
    "UPDATE pgc.pg_namespace SET nspacl = NULL",
    "UPDATE pgc.pg_class SET relacl = NULL WHERE relkind != 'r'",
    "UPDATE pgc.pg_class SET reloptions = NULL, relpartbound = NULL",
    "UPDATE pgc.pg_attribute SET attacl = NULL, attoptions = NULL, attfdwoptions = NULL",
    "UPDATE pgc.pg_index SET indexprs = NULL, indpred = NULL",
    "UPDATE pgc.pg_constraint SET confkey = NULL, conbin = NULL",
    "UPDATE pgc.pg_database SET datacl = NULL, daticulocale = NULL, daticurules = NULL",
    "UPDATE pgc.pg_roles SET rolvaliduntil = NULL, rolconfig = NULL",
)


def statements() -> list[str]:
    """What makes them, in a DuckDB that has the tables with rows."""
    names = {one.oid: one.sql for one in TYPES.values()} | {array: f"{one.sql}[]" for array, one in ARRAYS.items()}
    values = ", ".join(f"({oid}, '{name}')" for oid, name in names.items())
    receivers = ", ".join(f"({oid}, '{name}', 11)" for oid, name in RECEIVERS.items())
    return [
        *_FILLERS,
        f"CREATE TABLE pgc.type_names AS SELECT * FROM (VALUES {values}) v(oid, sql)",  # noqa: S608 - names of ours
        *(f"CREATE TABLE {name} ({_columns(columns)})" for name, columns in _EMPTY.items()),
        f"INSERT INTO pgc.pg_proc (oid, proname, pronamespace) VALUES {receivers}",  # noqa: S608 - names of ours
        *(f"INSERT INTO pgc.pg_keywords VALUES ('{word}', 'R', 'reserved')" for word in _KEYWORDS),  # noqa: S608
        *(f"CREATE MACRO pgc.{name}{_bodies(forms)}" for name, forms in _FUNCTIONS.items()),
        *(f"CREATE VIEW pgc.{name} AS {sql}" for name, sql in _VIEWS.items()),
    ]


def _columns(words: str) -> str:
    return ", ".join(f"{word.rstrip('#?[]*')} {_KINDS.get(word[-1], 'VARCHAR')}" for word in words.split())


def _bodies(forms: dict[str, str]) -> str:
    return ", ".join(f"({arguments}) AS {body}" for arguments, body in forms.items())
