"""Options about a language model, for the commands that may call one."""

import math
from typing import Annotated, Any, Final

import typer

from kgreason.base.errors import OptionError

MODEL: Final = "Language model"

Model = Annotated[
    str | None,
    typer.Option(
        metavar="PROVIDER:NAME",
        rich_help_panel=MODEL,
        show_default="none",
        help="A language model that proposes causes too: openai:NAME (any server that speaks chat "
        "completions, at OPENAI_BASE_URL) or anthropic:NAME. Keys come from the environment.",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        rich_help_panel=MODEL,
        show_default="no limit",
        help="Tokens of the model in all, of prompts and answers.",
    ),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        rich_help_panel=MODEL,
        show_default="no limit",
        help="What the calls of the model may cost in all, in US dollars.",
    ),
]
Prices = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.json",
        rich_help_panel=MODEL,
        show_default="the table of genai-prices",
        help="Prices of models, in US dollars for a million tokens of prompts and of answers.",
    ),
]


def model_options(
    model: str | None,
    max_tokens: int | None,
    max_usd: float | None,
    prices: str | None,
    *,
    plain: bool = False,
) -> dict[str, Any]:
    """Return the options about a model, by their names in Python; raises OptionError."""
    finite("--max-usd", max_usd)
    if plain and model is None:
        raise OptionError("--plain is about --model; give one.")
    return {"model": model, "max_tokens": max_tokens, "max_usd": max_usd, "prices": prices}


def finite(option: str, value: float | None) -> None:
    """Refuse a number that is none, or without end; raises OptionError."""
    if value is not None and not math.isfinite(value):
        raise OptionError(f"{option} must be a number, not {value}.")
