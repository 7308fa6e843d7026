"""What a study may say, field by field; `studies.spec` has what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator, model_validator

from environments.scenario import LONGEST_HORIZON
from environments.text import join_words
from studies.fields import Frozen, Name, OwnName, PrunerName, Real, SamplerName, Text, Whole
from studies.objective import parse_objective
from studies.ranges import Range
from studies.registry import OBJECTIVES, StudyDefaults, pattern_of, written
from studies.source import Source, check_one_source, source_of


class StudyFields(Frozen):
    """The fields of a study; one on a trace or a log has the name of its file for a scenario.

    >>> StudyFields.model_validate({"log": "/data/ads.csv"}).scenario
    'log:ads'
    """

    name: OwnName = Field(default=None, min_length=1, max_length=400, description="Overrides the study's own name.")
    policy: str = Field(default=StudyDefaults.policy, max_length=100, description="Whose parameters are searched.")
    scenario: str = Field(max_length=300, description="A scenario's name, or effects joined by '+'.")
    settings: dict[Name, Whole | Real | Text] = Field(
        default_factory=dict, max_length=100, description="The scenario's parameters, such as every or noise."
    )
    horizon: int | None = Field(
        default=None, strict=True, ge=1, le=LONGEST_HORIZON, description="Steps T; the scenario's own if absent."
    )
    arms: int | None = Field(
        default=None, strict=True, ge=1, le=LONGEST_HORIZON, description="Arms K; the scenario's own if absent."
    )
    trace: str | None = Field(
        default=None, min_length=1, max_length=1000, description="A CSV or Parquet file in place of a scenario."
    )
    log: str | None = Field(
        default=None, min_length=1, max_length=1000, description="A CSV or Parquet file of events, to be replayed."
    )
    minimize: bool = Field(default=False, strict=True, description="What the trace or log holds are costs.")
    digest: str | None = Field(default=None, max_length=64, description="SHA-256 of what the file held.")
    scale: float | None = Field(
        default=None, gt=0, description="Size of the file's rewards against those that ranges are made for."
    )
    space: dict[Name, Range] = Field(
        default_factory=dict, max_length=100, description="Where each parameter is searched."
    )
    fixed: dict[Name, Real | Text] = Field(
        default_factory=dict, max_length=100, description="Parameters that are not searched."
    )
    objective: str = Field(
        default=StudyDefaults.objective,
        max_length=100,
        description=f"What is optimised: {join_words(written(OBJECTIVES))}.",
        json_schema_extra=lambda schema: schema.update(pattern=pattern_of(OBJECTIVES)),
    )
    sampler: SamplerName = Field(default=StudyDefaults.sampler, description="How candidates are chosen.")
    pruner: PrunerName = Field(default=StudyDefaults.pruner, description="Whether poor candidates stop early.")
    trials: int = Field(
        default=StudyDefaults.trials, strict=True, ge=1, le=1_000_000, description="How many candidates."
    )
    batch: int = Field(
        default=StudyDefaults.batch, strict=True, ge=1, le=10_000, description="Candidates asked for at a time."
    )
    replications: int = Field(
        default=StudyDefaults.replications, strict=True, ge=2, le=10_000_000, description="Worlds each one plays."
    )
    candidates: int = Field(
        default=StudyDefaults.candidates, strict=True, ge=1, le=1000, description="How many of the best are validated."
    )
    selection: int = Field(
        default=StudyDefaults.selection, strict=True, ge=2, le=10_000_000, description="Fresh worlds to choose on."
    )
    report: int = Field(
        default=StudyDefaults.report, strict=True, ge=2, le=10_000_000, description="Fresh worlds to report on."
    )
    seed: int = Field(
        default=StudyDefaults.seed, strict=True, ge=0, le=2**63 - 1, description="Names the worlds and the search."
    )

    @field_validator("objective")
    @classmethod
    def _known_objective(cls, text: str) -> str:
        parse_objective(text)
        return text

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_file(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        name = check_one_source(given)
        return given if name is None else {**given, "scenario": name}

    @property
    def source(self) -> Source:
        """Where the rewards come from: a scenario, a trace or a log."""
        return source_of(self.scenario, self.settings, self.trace, self.log, self.minimize, self.digest, self.scale)
