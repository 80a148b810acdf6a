"""`python -m kgreason` is the command line."""

from kgreason.cli import main

if __name__ == "__main__":
    main()
