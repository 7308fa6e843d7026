"""Figure 5: regret, reward and suboptimal pulls of single worlds, from the runs of Table 3."""

from tuning.reproduction.context import Experiment
from tuning.reproduction.figure5.section import make_section
from tuning.reproduction.figure5.tables import evaluate
from tuning.reproduction.logistics import make_pieces

EXPERIMENT = Experiment(make_pieces, evaluate, make_section)
