"""Table 3: nine policies in the logistics case."""

from tuning.reproduction.context import Experiment
from tuning.reproduction.table3.run import make_pieces
from tuning.reproduction.table3.section import make_section
from tuning.reproduction.table3.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
