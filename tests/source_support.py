"""What tests of sources share: a folder of documents, and an investigation that looks into it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kgreason
from kgreason.base.resources import DEFAULT_POLICY
from kgreason.model.calling import Caller
from kgreason.model.model_reader import ModelReader
from kgreason.record import Record
from kgreason.sources.described import Described
from kgreason.sources.document_folder import DocumentFolder
from kgreason.sources.look_up import LookUp
from tests import chat_server
from tests.audit_support import lab
from tests.model_support import Stub

MEMO = """# Minutes of the laboratory

The scale of feed 3, in the south, stood in the damp until March. Samples from this feed were often
not weighed, and their mass is missing.

The canteen is closed on Friday.
"""
PAGE = """<!doctype html><html><head><title>x</title><script>samples feed mass</script></head>
<body><h1>Colours</h1><p>Samples whose colour is <b>green</b> come from the old feed.</p>
</body></html>
"""


@dataclass(frozen=True)
class Says:
    """A reader that finds each passage to say the same, or what a function tells."""

    reading: str | Callable[[str, str], str]

    def read(self, statement: str, quote: str, /) -> str:
        return self.reading if isinstance(self.reading, str) else self.reading(statement, quote)


def documents(folder: Path) -> Path:
    """Write a folder of documents about the laboratory."""
    made = folder / "documents"
    (made / "old").mkdir(parents=True)
    (made / "minutes.md").write_text(MEMO, encoding="utf-8")
    (made / "old" / "colours.html").write_text(PAGE, encoding="utf-8")
    (made / "picture.png").write_bytes(b"\x89PNG")
    return made


def looked_up_record(folder: Path, used: str = DEFAULT_POLICY, **options: Any) -> Record:
    """Investigate the laboratory with its documents, all of which is read as support."""
    given = str(documents(folder))
    # What stands in the minutes a person read, what stands elsewhere a model.
    reader = Says(lambda _, quote: "supports" if "scale" in quote else "")
    model = ModelReader(Caller(Stub(chat_server.good_reader)))
    sources = {given: DocumentFolder(Path(given))}
    tester = LookUp(sources, Described((given,)), reader, model)
    query = "SELECT ?s { ?s <https://example.org/lab/colour> 'green' } LIMIT 7"
    tests = [{"query": query, "code": "len(rows)", "expect": 7}]
    return lab(folder, policy=used, testers=[tester], tests=tests, **options)


def told(result: kgreason.Result) -> list[Any]:
    """Give the evidence of a result that comes from sources."""
    every = [e for s in result.symptoms for h in s.hypotheses for e in h.evidence]
    return [one for one in every if one.modality == "literature"]
