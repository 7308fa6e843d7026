"""Table 1: the seven kinds of change."""

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.table1.run import make_pieces
from ravenlab.tuning.reproduction.table1.section import make_section
from ravenlab.tuning.reproduction.table1.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
