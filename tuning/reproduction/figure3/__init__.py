"""Figure 3 and the six optima of Section 4.2: 4 × 4 grids over α₀ and β₀."""

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.figure3.run import make_pieces
from ravenlab.tuning.reproduction.figure3.section import make_section
from ravenlab.tuning.reproduction.figure3.verdicts import CLAIMS, evaluate

EXPERIMENT = Experiment(make_pieces, evaluate, make_section, CLAIMS)
