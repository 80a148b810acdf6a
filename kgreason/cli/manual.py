"""The page docs/cli.md, made of the same texts as --help: `python -m kgreason.cli.manual`."""

import sys
from typing import Any

from typer.main import get_command

from kgreason.cli.app import app

_HEAD = """# The command line

This page is made of the texts of `--help` by `python -m kgreason.cli.manual`.
"""


def page() -> str:
    """Return the page as Markdown."""
    program: Any = get_command(app)
    commands = program.commands.values()
    listed = [f"- [`kgreason {c.name}`](#kgreason-{c.name}): {_first(c.help)}" for c in commands]
    parts = [_HEAD, _described(program.help), "\n".join(listed) + "\n"]
    for command in commands:
        usage = " ".join(["[OPTIONS]", *map(_usage, _arguments(command))])
        parts += [
            f"## kgreason {command.name}\n",
            f"```\nkgreason {command.name} {usage}\n```\n",
            _described(command.help),
            _table(command.params),
        ]
    return "\n".join(part for part in parts if part)


def _arguments(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "argument"]


def _usage(argument: Any) -> str:
    name = f"{argument.metavar}{'...' if argument.nargs == -1 else ''}"
    return name if argument.required else f"[{name}]"


def _first(text: str) -> str:
    return " ".join(text.split("\n\n", 1)[0].split())


def _described(text: str) -> str:
    said, _, examples = text.partition("\b\nExamples:\n")
    lines = "\n".join(line.strip() for line in examples.splitlines())
    return f"{said.strip()}\n\n```\n{lines.strip()}\n```\n"


def _table(parameters: list[Any]) -> str:
    rows = [
        f"| {_name(p)} | {_cell(p.help or '')} | {_cell(_default(p))} |"
        for p in parameters
        if not getattr(p, "hidden", False) and p.name != "help"
    ]
    if not rows:
        return ""
    return "\n".join(["| argument or option | what it is | default |", "|---|---|---|", *rows, ""])


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar}"
    return f"`{', '.join(parameter.opts)}{value}`".replace("|", "\\|")


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return str(parameter.show_default)
    default = parameter.default
    if parameter.show_default is False or default is None or isinstance(default, bool):
        return ""
    return f"`{getattr(default, 'value', default)}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
