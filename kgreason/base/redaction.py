"""Take secrets out of a text that is going to be kept, such as the message of an exception."""

import os
import re
from collections.abc import Mapping
from typing import Final

_GONE: Final = "…"
_LONGEST: Final = 500
_SHORTEST: Final = 6  # a shorter value of the environment would be found in innocent words
_NAMES: Final = r"(?:[\w-]*(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|credential)s?|pwd)"
_SECRET_NAME: Final = re.compile(r"(?i)pass|secret|token|key|credential|auth")
_PATTERNS: Final = (
    re.compile(r"(?P<kept>\b[a-z][a-z0-9+.-]*://)[^\s/@]*:[^\s/@]*(?=@)", re.IGNORECASE),
    re.compile(
        rf"(?P<kept>\b{_NAMES}[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s&,;\"']+)", re.IGNORECASE
    ),
    re.compile(r"(?P<kept>\bbearer\s+)\S{8,}", re.IGNORECASE),
    re.compile(r"(?P<kept>\bauthorization[\"']?\s*[=:]\s*[\"']?basic\s+)\S+", re.IGNORECASE),
    re.compile(r"(?P<kept>)\b(?:sk|pk|ghp|gho|xox[a-z]|AKIA)[-_]?[A-Za-z0-9_-]{12,}"),
)


def without_secrets(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the first line of a text, 500 characters at most, without what looks like a secret.

    That is: a password in an IRI, what is assigned to a name such as `token` or `api_key`, what
    follows `Bearer`, keys of the usual forms, and the values of environment variables that are
    named like secrets.
    """
    found = text.strip().partition("\n")[0]
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST:
            found = found.replace(value, _GONE)
    for pattern in _PATTERNS:
        found = pattern.sub(rf"\g<kept>{_GONE}", found)
    return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + _GONE
