"""Write the generated tables and pictures of the documentation: python -m tools.docs."""

from tools.docs.pages import generate_files, outdated_files


def main() -> None:
    """Write every outdated file and print its path."""
    for path in outdated_files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(generate_files()[path], encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
