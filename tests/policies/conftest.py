"""A policy of the tests' own, as if it were one of ours."""

from __future__ import annotations

import pytest

import policies
from policies import find_policy
from tests.policies.online import Lottery


@pytest.fixture
def lottery(monkeypatch: pytest.MonkeyPatch) -> type[Lottery]:
    """A random policy that `from_state` can find."""
    monkeypatch.setattr(policies, "find_policy", lambda name: Lottery if name == "lottery" else find_policy(name))
    return Lottery
