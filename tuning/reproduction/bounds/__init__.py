"""The regret bounds of the paper's theory, compared with measured regret."""

from functools import partial

from ravenlab.tuning.reproduction.bounds.figures import SETTING_NAMES, plot_figures
from ravenlab.tuning.reproduction.bounds.run import PROBLEMS, make_pieces
from ravenlab.tuning.reproduction.bounds.verdicts import CLAIMS, evaluate
from ravenlab.tuning.reproduction.context import Experiment
from ravenlab.tuning.reproduction.texts import make_section

CONSTANTS = {
    "names": SETTING_NAMES,
    "problems": list(PROBLEMS.values()),
    "titles": {name: problem.title for name, problem in PROBLEMS.items()},
}

EXPERIMENT = Experiment(make_pieces, evaluate, partial(make_section, "bounds", plot_figures, CONSTANTS), CLAIMS)
