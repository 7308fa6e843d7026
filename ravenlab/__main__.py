"""`python -m ravenlab` runs the command `ravenlab`."""

from ravenlab import main

if __name__ == "__main__":
    main()
