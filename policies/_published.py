"""What the policies of the logistics script share: they stand behind a published table and are not tuned."""

from __future__ import annotations

from policies.base import Policy


class PublishedPolicy(Policy):
    """A policy with the script's own numbers, which rewards of another size don't fit."""

    family = "published"
    scalable = False
    reference = "RAVEN-UCB, logistics script"
