"""What is asked of a model and what comes back, whoever answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kgreason.base.errors import KgreasonError


@dataclass(frozen=True)
class Question:
    """A prompt, the JSON schema of its answer, and the most tokens that the answer may have."""

    prompt: str
    name: str
    schema: Mapping[str, Any] = field(repr=False)
    most_tokens: int = 4000


@dataclass(frozen=True)
class Reply:
    """The text of an answer, and the tokens of the prompt and of the answer."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class ModelError(KgreasonError):
    """A model gave no answer; it never ends a run.

    `again` says whether to ask again may help.
    """

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class Client(Protocol):
    """Speaks to a model. `provider` and `model` name it."""

    @property
    def provider(self) -> str:
        """The provider, such as "openai"."""
        ...

    @property
    def model(self) -> str:
        """The model, as the provider calls it."""
        ...

    def complete(self, question: Question, /) -> Reply:
        """Return the answer to a question; raises ModelError."""
        ...
