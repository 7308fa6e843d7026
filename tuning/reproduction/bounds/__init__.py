"""The regret bounds of the paper's theory, compared with measured regret."""

from tuning.reproduction.bounds.run import make_pieces
from tuning.reproduction.bounds.section import make_section
from tuning.reproduction.bounds.verdicts import CLAIMS, evaluate
from tuning.reproduction.context import Experiment

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
