"""Figure 3 and the six optima of Section 4.2: 4 × 4 grids over α₀ and β₀."""

from functools import partial

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.figure3.figures import plot_figures
from ravenlab.tuning.reproduction.figure3.run import make_pieces
from ravenlab.tuning.reproduction.figure3.verdicts import CLAIMS, CONSTANTS, evaluate
from ravenlab.tuning.reproduction.texts import make_section

EXPERIMENT = Experiment(make_pieces, evaluate, partial(make_section, "figure3", plot_figures, CONSTANTS), CLAIMS)
