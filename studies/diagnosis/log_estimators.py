"""The estimators of a policy's reward on a log, by the names under which `studies.registry.ESTIMATORS` lists them."""

from __future__ import annotations

from dataclasses import dataclass

from ravenlab.environments.recorded.log_file import Arms
from ravenlab.environments.recorded.log_world import EXPANSION, Estimator, PreparedLog
from ravenlab.environments.recorded.simulator import Simulator
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.analysis import diagnose_changes


@dataclass(frozen=True)
class DiagnosedSimulator(Estimator):
    """Draws rewards of a simulator with the kinds of change that a diagnosis of the segment finds.

    If it was not requested, it is used only where some arms have too few events for expansion, but enough for it.
    """

    requested: bool

    def prepare(self, arm: Arms, reward: Floats, arms: int) -> PreparedLog:
        """Return the events of a segment, with a simulator if it is used."""
        prepared = PreparedLog.of(arm, reward, arms)
        reason = "it was requested" if self.requested else prepared.reason_for_simulator()
        if reason is None:
            return prepared
        model = diagnose_changes(arm, reward, arms)
        simulated = prepared.with_simulator(Simulator.of(arm, reward, arms, model), reason)
        suitable = model.problem is None and simulated.support.enough
        return simulated if self.requested or suitable else prepared


LOG_ESTIMATORS: dict[str, Estimator] = {
    "automatic": DiagnosedSimulator(requested=False),
    "expansion": EXPANSION,
    "simulator": DiagnosedSimulator(requested=True),
}
