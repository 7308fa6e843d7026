"""The rules in words, by name: what the functions of `rules` and `grid_rules` do, with the same numbers."""

from __future__ import annotations

from studies.reproduction.rules import ABOUT, AGREE, DEAR, FLAT, NAMED, NOISE, WIDE, WIDEST_ABOUT

RULES: dict[str, str] = {
    "number": (
        "A printed number stands when it lies in our 95 % interval; it is within noise when it lies further off but "
        f"within {NOISE:g} combined standard errors, ours and that of a sample as large as the paper's; else it does "
        f"not stand. Where our interval is wider than {WIDE:.0%} of the number, it is not decidable instead of either "
        "of the first two."
    ),
    "about": (
        f"“About x” leaves room of {ABOUT:g} in its last printed digit on either side. It stands when x lies in our "
        "95 % interval, or the interval lies wholly in that room, and is not decidable when the interval only touches "
        f"the room or is wider than {WIDEST_ABOUT:g}; further off it is within noise when the room is within "
        f"{NOISE:g} combined standard errors, ours and that of one run as large as the paper's; else, or where "
        "the paper ran nothing, it does not stand."
    ),
    "all above": (
        "“All above x” stands when every interval lies above x, does not stand when one lies below it, and is not "
        "decidable otherwise. “All below” is the same the other way round."
    ),
    "best": (
        "“A is the best” stands when A beats every other in paired tests with Holm's correction, does not stand when "
        "another beats A so; with the best mean, but not told from all others, it is within noise; else it is not "
        "decidable."
    ),
    "cell": (
        "A cell named best stands when it can't be told from the best of the grid; it is within noise when it is "
        f"worse, but as few replications as the paper's would name it at least {NAMED:.0%} of the time; else it does "
        "not stand."
    ),
    "cost": (
        f"Advice stands when it costs less than {DEAR:.0%} more regret than the validated recommendation, with 95 % "
        "confidence; it does not stand when it costs more than that with 95 % confidence; else it is not decidable. "
        "Where it is meant for several scenarios it has to stand in each, and does not stand when it fails in one."
    ),
    "smallest": (
        "The regret printed for a best cell stands when it lies in the 95 % interval of that cell's regret; it is "
        "within noise when it lies further off, but in the middle 99.7 % of what the smallest of sixteen means is, "
        "each of as few replications as the paper's; else it does not stand."
    ),
    "different": (
        "“They have different best cells” does not stand when one cell can't be told from the best in any of them; it "
        "stands when no two share such a cell; else it is not decidable."
    ),
    "rises": (
        "“The best value grows with T” stands when in each scenario all values that can't be told from the best at "
        "the longer horizon lie above all those at the shorter; it does not stand when in one scenario none of them "
        "lies above any of those; else it is not decidable."
    ),
    "range": (
        "“The best value lies in a range” stands when in each grid all values that can't be told from the best lie in "
        "it, does not stand when in one grid none of them does, and is not decidable otherwise."
    ),
    "insensitive": (
        "“Insensitive” stands when in each grid the worst value of either parameter, with the other at its best, "
        f"costs less than {DEAR:.0%} more regret than the best value, with 95 % confidence; it does not stand when one "
        "costs more than that with 95 % confidence; else it is not decidable."
    ),
    "growth": (
        "“It grows” stands when the 95 % interval of the change lies above zero, does not stand when it lies below, "
        "and is not decidable otherwise. “It falls” is the same the other way round."
    ),
    "same": (
        "“They differ” does not stand when the worlds played under both names are the same to the last digit; "
        "otherwise it is for the other rules to say."
    ),
    "definition": (
        "A run is what its definition says when the share of its worlds that break the definition is zero; it does "
        "not stand when one does."
    ),
    "typical": (
        "“Typically above x” stands when more than half lie above x with 95 % confidence, does not stand when fewer "
        "than half do, and is not decidable otherwise."
    ),
    "equation": (
        f"An equation that is to hold at every step stands when its two sides differ by less than {AGREE:.0%} at all "
        "steps looked at; it does not stand when they differ by more at one."
    ),
    "order": (
        "A bound of lower order than T does not stand where the regret lies above it with 95 % confidence, or where "
        "the regret has a linear tail: up to the end its rate per step no longer falls, each decade's being "
        f"{FLAT[0]:g} to {FLAT[1]:g} times the one's before with 95 % confidence, where growth like ln T would make it "
        "a tenth. It stands, as far as the run goes, when neither is so and the last rate is below "
        f"{FLAT[0]:g} times the one before; else it is not decidable."
    ),
}
