"""Elements, links, scripts and text of an HTML page."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    """Elements with their attributes, text outside scripts, and scripts by their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words = ""
        self.everything = ""
        """All text, including attributes, scripts and styles."""
        self.items: dict[str, list[dict[str, str | None]]] = {}
        self._in: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.items.setdefault(tag, []).append(attributes)
        self.everything += " ".join(value or "" for value in attributes.values())
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        if tag == "a":
            self.links.append(str(attributes["href"]))
        if tag in ("script", "style"):
            self._in = tag
        if tag == "script":
            self.scripts.append((attributes, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._in = None

    def handle_data(self, data: str) -> None:
        self.everything += data
        if self._in == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif self._in is None:
            self.words += data.replace("\N{NO-BREAK SPACE}", " ")

    def script(self, id: str) -> str:
        return next(text for attributes, text in self.scripts if attributes.get("id") == id)

    def names(self) -> set[str]:
        return {
            *self.items,
            *(name for elements in self.items.values() for attributes in elements for name in attributes),
        }
