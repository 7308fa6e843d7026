"""What is my world like? Which of the seven kinds of change a trace or a log shows, how strongly, and how sure that is.

A trace is cut into blocks (`blocks`); each kind of change is a term of a model of block means and variances (`terms`,
one file a kind); terms enter one after another while a corrected test and the information criterion both ask for
them (`choose`). `diagnose` is the whole of it.
"""

from __future__ import annotations

from studies.diagnosis.analysis import diagnose
from studies.diagnosis.result import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
