"""From a request to the model that it asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from kgreason.base.budget import Cost
from kgreason.base.errors import OptionError
from kgreason.hypothesize.proposer import Proposer
from kgreason.model.calling import Caller
from kgreason.model.client import Client
from kgreason.model.model_designer import ModelDesigner
from kgreason.model.model_narrator import ModelNarrator
from kgreason.model.model_proposer import ModelProposer
from kgreason.model.model_reader import ModelReader
from kgreason.model.model_term_chooser import ModelTermChooser
from kgreason.model.model_tester import KIND, ModelTester
from kgreason.model.spending import Spending, price_of
from kgreason.observe.request import Request
from kgreason.record import Record
from kgreason.record.model_calls import ModelCall
from kgreason.record.policy import Policy
from kgreason.test.tester import Tester

READ: Final = tuple(("look-up", one) for one in ("model-says-so", "model-says-otherwise"))
"""Rows of a policy that says what a reading of a model is worth: kinds of test and outcomes."""
DESIGNED: Final = tuple(
    (kind, one) for kind in ("model-query", "model-code") for one in ("as-expected", "otherwise")
)
"""Those of a policy that says what a test is worth that a model designed."""


@dataclass(frozen=True)
class Company:
    """What a language model is asked for in a run.

    It proposes, judges, reads passages, designs tests, and tells in the end how the hypotheses
    competed.
    """

    proposers: tuple[Proposer, ...] = ()
    testers: tuple[Tester, ...] = ()
    narrator: ModelNarrator | None = None
    reader: ModelReader | None = None
    designer: ModelDesigner | None = None
    chooser: ModelTermChooser | None = None


def company(
    request: Request, rules: Policy, used: Cost | None = None, earlier: Sequence[ModelCall] = ()
) -> Company:
    """Return what the model that a request names takes part as; nothing where it names none.

    `used` is what earlier sessions cost, `earlier` are calls that were made before. It judges only
    under `rules` that say what that is worth. Raises OptionError for a model, key, price table or
    limit that is of no use.
    """
    if request.model is None:
        return Company()
    client, spending = model_of(request, used)
    return of_client(client, spending, rules, earlier)


def of_client(
    client: Client, spending: Spending, rules: Policy, earlier: Sequence[ModelCall] = ()
) -> Company:
    """Return what a model takes part as; all its parts share one budget."""
    caller = Caller(client, spending)
    tester = ModelTester(caller)
    known = all((KIND, outcome) in rules.outcomes for outcome in tester.kinds[0].outcomes)
    return Company(
        (ModelProposer(client, spending, earlier=tuple(earlier)),),
        (tester,) if known else (),
        ModelNarrator(caller),
        ModelReader(caller) if all(row in rules.outcomes for row in READ) else None,
        ModelDesigner(caller) if all(row in rules.outcomes for row in DESIGNED) else None,
        ModelTermChooser(caller),
    )


def model_of(request: Request, used: Cost | None = None) -> tuple[Client, Spending]:
    """Return the model that a request names, and what it may cost; raises OptionError as above."""
    from kgreason.model.connection import Connection  # noqa: PLC0415 - most runs have no model

    client = Connection(str(request.model))
    table = None if request.prices is None else Path(request.prices)
    price = price_of(client.provider, client.model, table)
    if request.max_usd is not None and price is None:
        raise OptionError(
            f"--max-usd: the price of {request.model} is not known; give --prices FILE, or "
            "--max-tokens in its place."
        )
    usd = None if request.max_usd is None else Decimal(str(request.max_usd))
    return client, Spending(price, request.max_tokens, usd, used or Cost())


def spent(record: Record) -> Cost:
    """Return what the sessions of a record have cost so far."""
    row = record.select("costs")[0]
    return Cost(int(row["tokens"].value), Decimal(row["usd"].value))
