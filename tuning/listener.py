"""What a run tells while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ravenlab.studies.spec.fields import Specification
    from ravenlab.tuning.search.loop import Progress


class Listener:
    """Is told about a study of any kind, from the thread that runs it. Nothing happens unless a method is overridden.

    The methods are called in this order. If an earlier run had finished the study, only `complete` is called.
    """

    def child(self, spec: Specification) -> Listener:
        """Return the listener of a study of a plan, or of one that this study runs first."""
        return self

    def complete(self, spec: Specification) -> None:
        """Tell that an earlier run had finished the study."""

    def begin(self, spec: Specification, stored: int) -> None:
        """Tell that the study starts; `stored` trials, cells or entries come from an earlier run."""

    def entry(self, label: str) -> None:
        """Tell that the next entry of a comparison starts."""

    def batch(self, progress: Progress) -> None:
        """Tell that a batch of trials, cells or entries was stored."""

    def validate(self, replayed: int = 0) -> None:
        """Tell that all are stored and the validation starts; `replayed` cells are played again for it."""

    def validated(self, steps: float) -> None:
        """Tell that the validation has simulated so many further steps."""

    def finish(self) -> None:
        """Tell that the result was stored."""


SILENT = Listener()
