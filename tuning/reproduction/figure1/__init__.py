"""Figure 1: the sampling distributions of the mean and the variance."""

from tuning.reproduction.context import Experiment
from tuning.reproduction.figure1.run import make_pieces
from tuning.reproduction.figure1.section import make_section
from tuning.reproduction.figure1.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
