"""Prompts: files of `prompts/`, made of parts, which a folder given by `--extend` may replace."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from kgreason.base.errors import TemplateError
from kgreason.base.extensions import PROMPT, PROMPTS, active
from kgreason.base.resources import folder

_VERSION: Final = re.compile(r"^\{# version: (?P<version>[^\s,]+)[^#]*#\}\n")


@dataclass(frozen=True)
class Prompt:
    """A prompt that was filled in, and the file, version and digest of the parts it was made of."""

    text: str
    template: str


class _Parts(BaseLoader):
    """Finds the parts of a prompt, those of extensions first, and remembers what was read."""

    def __init__(self) -> None:
        self.read: dict[str, str] = {}

    def get_source(self, environment: Any, template: str) -> tuple[str, str | None, Any]:
        del environment
        own = (one.prompt(template) for one in reversed(active()))
        for path in (*own, folder(PROMPTS.as_posix()) / f"{template}{PROMPT}"):
            if path is not None and path.is_file():
                self.read[template] = path.read_text(encoding="utf-8")
                return self.read[template], str(path), lambda: True
        raise TemplateNotFound(template)


def prompt(name: str, **values: Any) -> Prompt:
    """Fill in a prompt; raises TemplateError where it cannot be read or lacks a value."""
    parts = _Parts()
    made = ImmutableSandboxedEnvironment(
        loader=parts, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False,
    )  # fmt: skip
    try:
        text = made.get_template(name).render(**values)
    except (JinjaError, OSError, UnicodeDecodeError) as error:
        raise TemplateError(f"prompts/{name}{PROMPT}: {error}") from error
    found = _VERSION.match(parts.read[name])
    version = found["version"] if found else "unversioned"
    whole = "\n".join(f"{part}\n{parts.read[part]}" for part in sorted(parts.read))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return Prompt(text, f"{name} {version} {digest}")


def fenced(text: str) -> str:
    """Return a text of the data between two lines that it cannot have in it."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"<<<DATA {mark}\n{text}\nDATA {mark}>>>"
