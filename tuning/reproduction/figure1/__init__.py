"""Figure 1: the sampling distributions of the mean and the variance."""

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.figure1.run import make_pieces
from ravenlab.tuning.reproduction.figure1.section import make_section
from ravenlab.tuning.reproduction.figure1.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
