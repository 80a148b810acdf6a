"""What the tests of models share: a client that follows a script, and a world told by words."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import kgreason
from kgreason import run
from kgreason.model.client import Client, Question, Reply
from kgreason.model.model_proposer import ModelProposer
from kgreason.model.opening import of_client
from kgreason.model.spending import Spending, estimate
from kgreason.observe.request import request_of
from kgreason.record import Record, policy
from tests import chat_server
from tests.lifetime_support import sample, written

RECALLED: Final = (
    "Recalled by the maker",
    "Withdrawn from sale",
    "Taken back after complaints",
    "Banned by the office",
    "Returned as unsafe",
    "Seized at customs",
    "Condemned on arrival",
    "Impounded by inspectors",
)
USUAL: Final = (
    "Delivered on time",
    "Stored in hall nine",
    "Packed by hand",
    "Checked twice",
    "Sent by rail",
    "Bought at auction",
    "Kept for a client",
    "Labelled anew",
)
WORDS: Final = "recall|withdrawn|taken back|banned|returned|seized|condemned|impounded"
SELECT: Final = (
    f'SELECT ?focus {{ ?focus <https://example.org/lab/note> ?n FILTER REGEX(?n, "{WORDS}", "i") }}'
)
CAUSE: Final = "Samples whose note tells of a recall lack a mass."


@dataclass
class Stub:
    """A client that answers by a script, without a server."""

    answer: Callable[[str], str]
    provider: str = "script"
    model: str = "investigator"
    prompts: list[str] = field(default_factory=list)

    def complete(self, question: Question, /) -> Reply:
        self.prompts.append(question.prompt)
        # As a server does, it ends where the answer has the most tokens that it may have.
        whole = self.answer(question.prompt).encode()
        text = whole[: 3 * question.most_tokens].decode(errors="ignore")
        return Reply(text, estimate(question.prompt), estimate(text))


def recalls(folder: Path, *, order: str = "", null: bool = False, seed: int = 3) -> dict[str, Any]:
    """Write samples of which those with a note that tells of a recall mostly lack a mass.

    `order` is put into some of the notes; where it is `null`, failures go with nothing.
    """
    draw, rows = random.Random(seed), []
    for n in range(320):
        recalled = draw.random() < 0.25
        note = draw.choice(RECALLED if recalled else USUAL)
        more = f" {order}" if order and n % 5 == 0 else ""
        rate = 0.2 if null else 0.8 if recalled else 0.03
        said = f'e:note "{note}, lot {n}{more}" ; e:box {n % 7}'
        rows.append(sample(n, said, fails=draw.random() < rate))
    return {"calibration": "none"} | written(folder, rows)


def good(prompt: str) -> str:
    """Answer as one who reads the notes."""
    box = chat_server.path(prompt, "box")
    return chat_server.said(
        chat_server.one(CAUSE, select=SELECT),
        chat_server.one(
            "Samples of box three lack a mass.",
            "source",
            region=[chat_server.condition(box, "equals", "3")],
        ),
        chat_server.one(
            "Samples of box five lack a mass.",
            region=[chat_server.condition(box, "equals", "5")],
        ),
    )


def biased(prompt: str) -> str:
    """Blame one feed, whatever fails."""
    source = chat_server.path(prompt, "source")
    blamed = [chat_server.condition(source, "equals", "urn:src:feed-0.ttl")]
    return chat_server.said(
        *(
            chat_server.one(f"{who} of the first feed lose the mass.", "source", region=blamed)
            for who in ("The makers", "The scales", "The people")
        )
    )


def advised(
    folder: Path,
    answer: Callable[[str], str] | None,
    *,
    spending: Spending | None = None,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[kgreason.Result, Stub]:
    """Investigate recalls with a scripted model, or without one where it has no answer."""
    asked = (options or recalls(folder)) | more
    stub = Stub(answer or chat_server.lazy)
    model = ModelProposer(stub, spending or Spending(), pause=0)
    proposers = [model] if answer else []
    return kgreason.investigate(asked.pop("data"), proposers=proposers, **asked), stub


def advised_record(folder: Path, used: str) -> Record:
    """Give the record of a run with a model of which some suggestions are refused."""
    stub = Stub(acting(good, lambda _: judging(0.9, 0.1), tell))
    return company(stub, folder, policy=used).record


def company(stub: Stub, folder: Path, **more: Any) -> kgreason.Result:
    """Investigate recalls with a scripted model that proposes, judges and narrates."""
    options = recalls(folder) | more
    request = request_of(options.pop("data"), **options)
    made = of_client(stub, Spending(), policy.load(request.policy))
    return run.begin(request, folder / "ledger", model=made)


def held(client: Client | None, options: dict[str, Any], tokens: int) -> kgreason.Result:
    """Investigate in memory with a client that may spend so many tokens, or without one."""
    given = dict(options)
    request = request_of(given.pop("data"), **given, try_repairs=False)
    made = client and of_client(client, Spending(most_tokens=tokens), policy.load(request.policy))
    return run.begin(request, None, model=made or None)


def judging(if_true: float, if_false: float) -> str:
    return json.dumps({"if_true": if_true, "if_false": if_false, "reason": "The notes say so."})


def narrated(*sentences: tuple[int, str, list[str]]) -> str:
    rows = [{"place": place, "text": text, "cites": cites} for place, text, cites in sentences]
    return json.dumps({"sentences": rows})


def acting(
    propose: Callable[[str], str],
    judge: Callable[[str], str],
    tell: Callable[[str], str],
    read: Callable[[str], str] = chat_server.unread,
    design: Callable[[str], str] = chat_server.undesigned,
    choose: Callable[[str], str] = chat_server.unchosen,
) -> Callable[[str], str]:
    """Return an answer that looks at what it is asked for."""

    def answer(prompt: str) -> str:
        if "# The dossier" in prompt:
            return tell(prompt)
        if "# Passages" in prompt:
            return read(prompt)
        if "# Terms to choose" in prompt:
            return choose(prompt)
        if "# Hypotheses to test" in prompt:
            return design(prompt)
        return judge(prompt) if "`if_true`" in prompt else propose(prompt)

    return answer


EVIDENCE: Final = re.compile(r"^  (E\d+) (supports|contradicts|neutral): ", re.MULTILINE)


def tell(prompt: str) -> str:
    """Cite in the first sentence, not in the second, and mend the third when it is sent back."""
    name = EVIDENCE.findall(prompt)[0][0]
    again = "Sent back" in prompt
    return narrated(
        (1, "The notes set the failing samples apart.", [name]),
        (2, "Everybody knows that the moon did it.", []),
        (3, "The rival fell behind." if again else "The rival fell behind by 7654321.", [name]),
        (4, "So says a paper.", ["E99999"]),
    )
