"""Diagnosis of recorded rewards: which of eight kinds of change a trace or log shows, with strength and p-value.

The rows are averaged over blocks (`blocks`). Each kind of change is a term of a regression of block means and variances
(`model`). Terms enter stepwise while an adjusted test and the Bayesian information criterion both support them
(`model_selection`). `analysis.diagnose` runs all steps.
"""

from __future__ import annotations

from ravenlab.studies.diagnosis.analysis import diagnose
from ravenlab.studies.diagnosis.result import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
