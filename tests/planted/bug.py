"""What a planted bug is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One change of the code that makes it wrong.

    `before` stands exactly once in `file` (a path from the root of the repository) and is replaced by
    `after`. `found_by` names what must find it: test files, folders or single tests as pytest takes them.
    `excuse` is for a bug that nothing finds: why it does no harm.
    """

    name: str
    file: str
    before: str
    after: str
    found_by: tuple[str, ...]
    excuse: str = ""

    def planted(self, code: str) -> str:
        """The code with the bug in it.

        Raises:
            ValueError: What the bug replaces does not stand there exactly once.
        """
        if (times := code.count(self.before)) != 1:
            raise ValueError(f"{self.name}: {self.before!r} stands {times} times in {self.file}, not once")
        return code.replace(self.before, self.after)
