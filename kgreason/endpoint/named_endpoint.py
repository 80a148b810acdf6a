"""What a user says of an endpoint: its address, which graphs, how much of it, and how to ask."""

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from kgreason.base.errors import OptionError
from kgreason.endpoint import dialect
from kgreason.graph.load import FORMATS

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE: Final = "env:"
_LEAST: Final = 20  # failing nodes: of fewer little can be found out


@dataclass(frozen=True)
class NamedEndpoint:
    """An endpoint as it was named, with what may be taken from it.

    `graphs` are the only named graphs that are looked at, where there are any; `dialect` is the
    name of one, None where it is to be found out. Of a symptom `cap` failing nodes are taken at
    most, and `ratio` times as many passing ones; what lies up to `hops` steps from them comes
    along. `pause` are seconds between two queries, `seconds` what an answer may take. `headers`
    may hold secrets, and are never recorded.
    """

    address: str
    graphs: tuple[str, ...] = ()
    dialect: str | None = None
    cap: int = 5000
    ratio: int = 4
    hops: int = 2
    pause: float = 0.0
    seconds: float = 60.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def check(self) -> None:
        """Refuse what has no meaning; raises OptionError."""
        for name, least, most in (
            ("cap", _LEAST, 100_000),
            ("ratio", 1, 100),
            ("hops", 0, 4),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise OptionError(f"--{name} must be at least {least} and at most {most:,}.")
        if self.dialect is not None:
            dialect.named(self.dialect)
        if self.pause < 0:
            raise OptionError("--pause must not be less than 0.")

    @property
    def host(self) -> str:
        """The host that is asked, and no other; of a store on this machine its folder."""
        parts = urlsplit(self.address)
        return parts.netloc or unquote(PurePosixPath(parts.path).name)

    @property
    def label(self) -> str:
        """What stands for the endpoint in the name of what came from it."""
        parts = urlsplit(self.address)
        return parts.netloc + parts.path.rstrip("/")


def is_address(name: str) -> bool:
    """Check whether what was given as data is the address of an endpoint."""
    return name.lower().startswith(("http://", "https://"))


def address_of(name: str) -> str:
    """Return the address of an endpoint; raises OptionError for one of no use.

    A password in it would get into the record, and is refused.
    """
    parts = urlsplit(name)
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise OptionError(f"{name}: give the address of an endpoint as https://HOST/PATH.")
    if PurePosixPath(parts.path.removesuffix(".gz")).suffix.lower() in FORMATS:
        raise OptionError(
            f"{name}: this looks like a file, and files are never fetched; download it, and give "
            "the file. An address is taken for a SPARQL endpoint."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise OptionError(
            f"{parts.scheme}://{parts.hostname}{parts.path}: give the address without a user name, "
            "a query and a fragment; a password goes with --auth, a graph with --graph."
        )
    return name


def headers_of(auth: str | None = None, header: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers that --auth and --header ask for; raises OptionError.

    `env:NAME` stands for the value of an environment variable, so that a secret need not be typed.
    """
    found = {}
    if auth is not None:
        said = _value(auth, "--auth")
        if ":" not in said:
            raise OptionError("--auth takes USER:PASSWORD, or env:NAME of a variable that has it.")
        found["Authorization"] = "Basic " + base64.b64encode(said.encode()).decode()
    for one in header:
        name, colon, value = one.partition(":")
        if not colon or not _HEADER.fullmatch(name.strip()):
            raise OptionError("--header takes 'NAME: VALUE', or 'NAME: env:VARIABLE'.")
        found[name.strip()] = _value(value.strip(), f"--header {name.strip()}")
    if any(not value.isprintable() for value in found.values()):
        raise OptionError("--auth and --header take one line of printable characters.")
    return found


def _value(said: str, option: str) -> str:
    if not said.startswith(_VARIABLE):
        return said
    name = said.removeprefix(_VARIABLE)
    if not os.environ.get(name):
        raise OptionError(f"{option}: there is no environment variable {name}.")
    return os.environ[name]
