"""Table 3: nine policies in the logistics case."""

from functools import partial

from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.logistics import COMPARISON_TITLES, MEASURE_TITLES, NAMES
from ravenlab.tuning.reproduction.table3.figures import ESTIMATOR_TITLES, plot_figures
from ravenlab.tuning.reproduction.table3.run import make_pieces
from ravenlab.tuning.reproduction.table3.verdicts import CLAIMS, evaluate
from ravenlab.tuning.reproduction.texts import make_section

CONSTANTS = {
    "names": NAMES,
    "comparisons": COMPARISON_TITLES,
    "measures": MEASURE_TITLES,
    "estimator_titles": ESTIMATOR_TITLES,
}

EXPERIMENT = Experiment(make_pieces, evaluate, partial(make_section, "table3", plot_figures, CONSTANTS), CLAIMS)
