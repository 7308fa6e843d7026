"""Figure 2: regret reduction compared with UCB1 against the horizon."""

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.figure2.run import make_pieces
from ravenlab.tuning.reproduction.figure2.section import make_section
from ravenlab.tuning.reproduction.figure2.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
