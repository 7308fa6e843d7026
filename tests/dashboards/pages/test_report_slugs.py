"""Names of studies as ids and files, and as text within a script."""

from __future__ import annotations

import json
import re

from dashboards.pages.html import Slugs, escape_json, slugify
from tests.studies.examples import LINES, WILD


def test_slugs_and_scripts() -> None:
    names = [WILD, LINES, "a/b", "a-b", "A b", "🦅", "../..", "x" * 200, ""]
    given = Slugs()
    found = [given.new(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}", each) for each in found)
    assert slugify(WILD) == slugify(WILD)
    assert json.loads(escape_json(json.dumps(WILD + "\u2028</script>", ensure_ascii=False))) == WILD + "\u2028</script>"
