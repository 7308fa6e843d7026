"""Fixture of a policy that exists only in tests."""

import pytest

from ravenlab import policies
from ravenlab.policies import find_policy
from tests.policies.online import Lottery


@pytest.fixture
def lottery(monkeypatch: pytest.MonkeyPatch) -> type[Lottery]:
    """Register the random test policy, so that `from_state` finds it."""
    monkeypatch.setattr(policies, "find_policy", lambda name: Lottery if name == "lottery" else find_policy(name))
    return Lottery
