"""Spending: what calls of a model cost, by a price table, and what they may cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from kgreason.base.budget import Cost
from kgreason.base.errors import OptionError

_MILLION: Final = Decimal(1_000_000)
_LETTERS: Final = 3
"""Letters a token has at least, on average; an estimate from above of what a prompt costs."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens of prompts, and of answers."""

    input: Decimal
    output: Decimal

    def of(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what so many tokens cost, in US dollars."""
        whole = self.input * input_tokens + self.output * output_tokens
        return (whole / _MILLION).quantize(Decimal("0.000000001"))


def price_of(provider: str, model: str, table: Path | None) -> Price | None:
    """Return the price of a model by the user's table, else by that of genai-prices, or None.

    The table is JSON: {"MODEL": {"input": USD, "output": USD}}, for a million tokens each. Raises
    OptionError for a table that is none.
    """
    if table is not None:
        found = _read(table)
        return found.get(model) or found.get(f"{provider}:{model}")
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - of the extra

        one = 1_000_000
        read = calc_price(Usage(input_tokens=one, output_tokens=0), model, provider_id=provider)
        said = calc_price(Usage(input_tokens=0, output_tokens=one), model, provider_id=provider)
    except (ImportError, LookupError):
        return None
    return Price(Decimal(str(read.total_price)), Decimal(str(said.total_price)))


def _read(path: Path) -> Mapping[str, Price]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): _price(one) for name, one in found.items()}
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"--prices {path}: the file cannot be read ({why}).") from error
    except (ValueError, AttributeError, KeyError, TypeError, InvalidOperation) as error:
        raise OptionError(
            f'--prices {path}: give a JSON object such as {{"MODEL": {{"input": 0.5, "output": 2}}'
            "}, in US dollars for a million tokens."
        ) from error


def _price(plain: Any) -> Price:
    made = Price(Decimal(str(plain["input"])), Decimal(str(plain["output"])))
    if not (made.input.is_finite() and made.output.is_finite()) or min(made.input, made.output) < 0:
        raise ValueError("a price is at least 0")
    return made


@dataclass
class Spending:
    """What calls may cost in all, and have cost; asked before each call."""

    price: Price | None = None
    most_tokens: int | None = None
    most_usd: Decimal | None = None
    used: Cost = field(default_factory=Cost)

    def left(self, prompt: str, wanted: int) -> tuple[int, str]:
        """Return the tokens that an answer may have, up to `wanted`, or 0 and why none is asked."""
        asked, most = estimate(prompt), wanted
        if self.most_tokens is not None:
            most = min(most, self.most_tokens - self.used.tokens - asked)
            if most <= 0:
                return 0, f"no call fits into the rest of {self.most_tokens} tokens"
        if self.most_usd is not None and self.price is not None:
            rest = self.most_usd - self.used.usd - self.price.of(asked, 0)
            if rest <= 0:
                return 0, f"no call fits into the rest of {self.most_usd:f} USD"
            if self.price.output:
                most = min(most, int(rest / self.price.output * _MILLION))
            if most <= 0:
                return 0, f"no call fits into the rest of {self.most_usd:f} USD"
        return most, ""

    def charge(self, input_tokens: int, output_tokens: int) -> Cost:
        """Add the cost of a call, and return it."""
        usd = self.price.of(input_tokens, output_tokens) if self.price else Decimal(0)
        cost = Cost(input_tokens + output_tokens, usd)
        self.used += cost
        return cost


def estimate(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    return -(-len(text.encode()) // _LETTERS)
