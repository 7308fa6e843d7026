"""Figure 4: cumulative regret and reward of the nine policies over time, from the runs of Table 3."""

from tuning.reproduction.context import Experiment
from tuning.reproduction.figure4.section import make_section
from tuning.reproduction.figure4.tables import evaluate
from tuning.reproduction.logistics import make_pieces

EXPERIMENT = Experiment(make_pieces, evaluate, make_section)
