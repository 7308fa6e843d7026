"""Figure 2: regret reduction compared with UCB1 against the horizon."""

from functools import partial

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.figure2.figures import plot_figures
from ravenlab.tuning.reproduction.figure2.run import make_pieces
from ravenlab.tuning.reproduction.figure2.verdicts import CLAIM_HORIZON, CLAIMS, evaluate
from ravenlab.tuning.reproduction.texts import make_section

CONSTANTS = {"claim_horizon": CLAIM_HORIZON}

EXPERIMENT = Experiment(make_pieces, evaluate, partial(make_section, "figure2", plot_figures, CONSTANTS), CLAIMS)
