"""A scenario in which all arms pay less at night, the second half of each day."""

from dataclasses import dataclass

import ravenlab


@dataclass(frozen=True)
class NightShift(ravenlab.Effect):
    name, category, order = "night-shift", "PC", 15
    stream_key = "night-shift"
    meaning = "in the second half of each day every arm pays up to `loss` less"
    day: int = 1000
    loss: float = 0.3

    def rows(self, horizon: int) -> int:
        return 1

    def apply(self, draft: ravenlab.Draft) -> None:
        less = draft.uniform(self.stream_key, 0.0, self.loss)[:, None, :]
        night = draft.add_rows(draft.mean[:, :1] - less, draft.variance[:, :1])
        for morning in range(self.day, draft.horizon + self.day, self.day):
            draft.changes += [ravenlab.Change(morning - self.day // 2, night), ravenlab.Change(morning, 0)]


night_shift = ravenlab.Scenario("night-shift", NightShift.meaning, (NightShift(),), arms=5, horizon=5000)
