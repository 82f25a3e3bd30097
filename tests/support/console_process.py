"""The console in a process of its own, as `lakeward console` starts it."""

from __future__ import annotations

from pathlib import Path

from service_process import AddressedProcess


class ConsoleProcess(AddressedProcess):
    """A console of one cluster on a free port; `url` is where it is."""

    def __init__(
        self, bootstrap: str, log_file: Path, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        super().__init__(["console", "--server", bootstrap, "--port", "0", *arguments], log_file, environment)
