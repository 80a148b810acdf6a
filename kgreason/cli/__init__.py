"""The command line: arguments in, the result on stdout, everything else on stderr."""

from kgreason.cli.app import app, main

__all__ = ["app", "main"]
