"""Policies as implemented in the paper's logistics script, with its constants; needed to reproduce Table 3."""

from ravenlab.policies.engine.base import Policy


class PublishedPolicy(Policy):
    """A policy with the constants of the logistics script, which fit its reward scale only."""

    family = "published"
    scalable = False
    reference = "RAVEN-UCB, logistics script"
