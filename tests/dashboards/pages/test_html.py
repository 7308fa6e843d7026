"""Parts of pages: identifiers of elements, and JSON in scripts."""

import json
import re

from ravenlab.dashboards.pages.html import Slugs, code_spans, escape_json, slugify
from tests.studies.examples import LINES, WILD


def test_slugs_are_unique_and_safe() -> None:
    names = [WILD, LINES, "a/b", "a-b", "A b", "🦅", "../..", "x" * 200, ""]
    slugs = Slugs()
    ids = [slugs.new(name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,100}", each) for each in ids)
    assert slugify(WILD) == slugify(WILD)
    assert json.loads(escape_json(json.dumps(WILD + "\u2028</script>", ensure_ascii=False))) == WILD + "\u2028</script>"


def test_code_is_marked_up_and_nothing_else() -> None:
    assert code_spans("With `times` = <b>") == "With <code>times</code> = &lt;b&gt;"
    assert code_spans("`<script>`") == "<code>&lt;script&gt;</code>"
    assert code_spans("one ` only") == "one ` only"
