"""`--bring`: a policy or scenario of the user's own that a study file names. Only what is named here is run."""

from __future__ import annotations

from collections.abc import Sequence


def bring(texts: Sequence[str] | None) -> None:
    """Load what the user named, whatever it is."""
    if not texts:
        return
    from environments.errors import InputError
    from environments.own import is_own, load_own
    from environments.own_scenarios import BROUGHT as SCENARIOS
    from environments.own_scenarios import bring_scenario
    from policies.own import BROUGHT as POLICIES
    from policies.own import bring_policy

    for text in texts:
        if is_own(text):
            found, _ = load_own(text, "--bring")
            policy = isinstance(found, type) and callable(getattr(found, "select", None))
            (bring_policy if policy else bring_scenario)(text)
        elif text in POLICIES.installed():
            bring_policy(text)
        elif text in SCENARIOS.installed():
            bring_scenario(text)
        else:
            raise InputError(f"--bring must be ./file.py:Name or what an installed package offers but got {text!r}.")
