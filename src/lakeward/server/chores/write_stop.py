"""WriteStop: reasons why nothing may be written now. Reads go on."""

from __future__ import annotations

from lakeward.errors import LakewardError


class WriteStop:
    """Asked before every write; open unless somebody has said why not."""

    def __init__(self) -> None:
        self._reasons: dict[str, LakewardError] = {}

    def check(self) -> None:
        """Refuse a write that comes while there is a reason to."""
        for wrong in self._reasons.values():
            raise wrong.code.error(wrong.message)  # a fresh one: a traceback grows with every raise

    def stop(self, why: str, wrong: LakewardError) -> None:
        """Refuse writes from now on with an error; `why` names the reason."""
        self._reasons[why] = wrong

    def resume(self, why: str) -> None:
        """The reason is gone."""
        self._reasons.pop(why, None)

    def __contains__(self, why: str) -> bool:
        return why in self._reasons

    @property
    def reasons(self) -> dict[str, str]:
        """Reason → what writers are told."""
        return {why: wrong.message for why, wrong in self._reasons.items()}
