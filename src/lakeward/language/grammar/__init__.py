"""Text → statements.

    parse_script(text)    all statements; the first that is wrong raises ScriptError
    read_script(text)     one after the other: those in front of a wrong one come before it raises
    is_complete(text)     whether every statement is ended by its semicolon, for the shell
    leftover(text)        what follows the last whole statement
    place_of(statement, node)    where in the script a node of a statement's tree stands

| room | what it holds |
|---|---|
| text | tokens of a script, cut into statements, and a reader that steps through them |
| tree | queries and expressions as trees of sqlglot |
| tables | CREATE TABLE and ALTER TABLE |
| creation | every other CREATE |
| kinds | one file for each other kind of statement, and the script as a whole |
| dialect | the dialect under the trees |
| nodes | nodes that sqlglot does not have |
"""

from lakeward.language.grammar.kinds.script import parse_script, read_script
from lakeward.language.grammar.text.split import is_complete, leftover
from lakeward.language.grammar.tree.places import place_of

__all__ = ["is_complete", "leftover", "parse_script", "place_of", "read_script"]
