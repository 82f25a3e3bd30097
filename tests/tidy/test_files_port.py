"""What the server keeps goes through the Files port, so that a simulation can take it away."""

from __future__ import annotations

import ast

import pytest
from source_tree import Module, modules

#: Calls of pathlib that read or change a disk.
PATH_CALLS = {
    *("read_bytes", "write_bytes", "read_text", "write_text", "mkdir", "rmdir", "iterdir", "glob", "rglob", "unlink"),
    *("stat", "is_dir", "is_file", "chmod", "hardlink_to", "symlink_to"),
}
#: What the port is called where it is used.
PORT_NAMES = {"disk", "_disk"}
#: What of `os` is no file.
HARMLESS = {"getpid", "strerror"}
#: `lakeward restore` fills a directory from elsewhere while no server runs; RocksDB opens its files itself.
EXEMPT = ("lakeward.server.restore.", "lakeward.storage.kv.rocksdb.")
KEPT = [
    module
    for name, module in sorted(modules().items())
    if name.startswith(("lakeward.storage.", "lakeward.server.")) and not name.startswith(EXEMPT)
]


@pytest.mark.parametrize("module", KEPT, ids=lambda module: module.name)
def test_files_are_touched_through_the_port_alone(module: Module) -> None:
    """No `open`, no `os`, no `shutil`, no call on a path that reaches the disk."""
    assert [ast.unparse(node) for node in ast.walk(module.tree) if isinstance(node, ast.Call) and _is_io(node)] == []


def _is_io(call: ast.Call) -> bool:
    asked = call.func
    if isinstance(asked, ast.Name):
        return asked.id == "open"
    if not isinstance(asked, ast.Attribute):
        return False
    owner = asked.value.attr if isinstance(asked.value, ast.Attribute) else getattr(asked.value, "id", "")
    if owner in {"os", "shutil", "tempfile"}:
        return asked.attr not in HARMLESS
    return asked.attr in PATH_CALLS and owner not in PORT_NAMES
