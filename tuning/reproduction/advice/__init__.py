"""The parameters recommended in Section 5."""

from tuning.reproduction.advice.run import make_pieces
from tuning.reproduction.advice.section import make_section
from tuning.reproduction.advice.verdicts import CLAIMS, evaluate
from tuning.reproduction.context import Experiment

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
