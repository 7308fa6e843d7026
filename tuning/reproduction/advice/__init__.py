"""The parameters recommended in Section 5."""

from ravenlab.tuning.reproduction.advice.run import make_pieces
from ravenlab.tuning.reproduction.advice.section import make_section
from ravenlab.tuning.reproduction.advice.verdicts import CLAIMS, evaluate
from ravenlab.tuning.reproduction.context import Experiment

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
