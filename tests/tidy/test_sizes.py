"""Small things: files that fit a few screens, functions that fit one, folders that fit a head."""

from __future__ import annotations

from source_tree import folders, modules

FILE_LINES = 400
FUNCTION_LINES = 70
FOLDER_FILES = 15

#: A kernel is one loop, and numba inlines nothing for free.
LONG_FUNCTIONS = {
    "lakeward.records.kernels.key_check_kernels.check_records",
    "lakeward.storage.kv.merge_loop.merge_kernels.merge",
}


def test_no_file_is_long() -> None:
    """A file that grows beyond a few screens holds two nouns."""
    assert {m.name for m in modules().values() if m.text.count("\n") > FILE_LINES} == set()


def test_no_function_is_long() -> None:
    """What does not fit a screen is not seen at once."""
    long = {
        f"{module.name}.{function.name}"
        for module in modules().values()
        for function in module.functions
        if function.end_lineno is not None and function.end_lineno - function.lineno >= FUNCTION_LINES
    }
    assert long - LONG_FUNCTIONS == set()


def test_no_folder_is_flat() -> None:
    """What does not fit a head falls into rooms."""
    files = dict.fromkeys(folders(), 0)
    for module in modules().values():
        if not module.is_head:
            files[module.folder] += 1
    large = {folder: count for folder, count in files.items() if count > FOLDER_FILES}
    assert large == {}
