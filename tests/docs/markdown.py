"""What a Markdown page holds: blocks of code, headings, links, images and code within sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.project import DOCS, ROOT


@dataclass(frozen=True)
class Block:
    """A block of code, and the line of the page on which it begins."""

    language: str
    text: str
    line: int
    section: str
    """The heading that it stands under."""


@dataclass
class Page:
    """One page, taken apart."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    """Where each is, and its alt text."""
    spans: list[str] = field(default_factory=list)
    """Code within sentences and tables."""

    @property
    def anchors(self) -> set[str]:
        """What a link may point at: headings as GitHub writes them, the second of a name with -1 behind it."""
        found: set[str] = set()
        for heading in self.headings:
            plain = anchor(heading)
            number = 0
            while (name := plain if number == 0 else f"{plain}-{number}") in found:
                number += 1
            found.add(name)
        return found


def anchor(heading: str) -> str:
    """A heading as a link names it.

    >>> anchor("What is run, and what is not"), anchor("periodic+blips")
    ('what-is-run-and-what-is-not', 'periodicblips')
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read_page(path: Path) -> Page:
    """Take a page apart."""
    page = Page(path)
    section = ""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    for place, token in enumerate(tokens):
        if token.type in ("fence", "code_block"):
            first = 1 + (token.map[0] if token.map else 0)
            page.blocks.append(Block(token.info.strip(), token.content, first, section))
        elif token.type == "inline":
            if tokens[place - 1].type == "heading_open":
                section = _words(token)
                page.headings.append(section)
            _take_in(page, token)
    return page


def _take_in(page: Page, token: Token) -> None:
    for child in token.children or []:
        if child.type == "link_open":
            page.links.append(str(child.attrs["href"]))
        elif child.type == "image":
            page.images.append((str(child.attrs["src"]), child.content))
        elif child.type == "code_inline":
            page.spans.append(child.content)


def _words(token: Token) -> str:
    return "".join(child.content for child in token.children or [] if child.type in ("text", "code_inline"))


def pages() -> list[Path]:
    """Every page of the project."""
    return sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
