"""Table 3: nine policies in the logistics case."""

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.table3.run import make_pieces
from ravenlab.tuning.reproduction.table3.section import make_section
from ravenlab.tuning.reproduction.table3.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
