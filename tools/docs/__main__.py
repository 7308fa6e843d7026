"""python -m tools.docs: write what the docs take from the code anew: tables and pictures."""

from __future__ import annotations

from tools.docs.pages import made, stale


def main() -> None:
    """Write every file that is not as it would be made, and say which."""
    for path in stale():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made()[path], encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
