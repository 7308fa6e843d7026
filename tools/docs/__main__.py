"""Write the generated tables and pictures of the documentation: python -m tools.docs."""

from __future__ import annotations

from tools.docs.pages import made, stale


def main() -> None:
    """Write every file that is out of date, and print its path."""
    for path in stale():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made()[path], encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
