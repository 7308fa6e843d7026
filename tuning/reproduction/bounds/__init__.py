"""The regret bounds of the paper's theory, compared with measured regret."""

from ravenlab.tuning.reproduction.bounds.run import make_pieces
from ravenlab.tuning.reproduction.bounds.section import make_section
from ravenlab.tuning.reproduction.bounds.verdicts import CLAIMS, evaluate
from ravenlab.tuning.reproduction.context import Experiment

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
