"""Connection: a model over HTTP, by pydantic-ai (the extras `llm`, `anthropic`).

Each question is one request.

Keys and the address of the server come from the environment, and go nowhere else. A server that
does not take a JSON schema is asked by a tool, and then by words alone.
"""

import asyncio
import importlib
import json
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from kgreason.base.errors import OptionError
from kgreason.base.redaction import without_secrets
from kgreason.model.client import ModelError, Question, Reply

MODES: Final = ("native", "tool", "prompted")
_PROVIDERS: Final = ("openai", "anthropic")
_SECONDS: Final = 120.0
_NOT_TAKEN: Final = frozenset({400, 404, 415, 422, 501})
_AGAIN: Final = frozenset({408, 409, 425, 429})
_SERVER: Final = 500


class Connection:
    """A model of a provider; `seconds` bounds each request."""

    def __init__(self, name: str, seconds: float = _SECONDS) -> None:
        self.provider, self.model = _named(name)
        _extra(self.provider)
        self._seconds = seconds
        self._modes = list(MODES)

    def complete(self, question: Question, /) -> Reply:
        """Return the answer to a question; raises ModelError."""
        while True:
            try:
                return _apart(self._asked(question, self._modes[0]))
            except _ModeNotTaken as error:
                if len(self._modes) == 1:
                    raise ModelError(str(error)) from error
                self._modes.pop(0)

    async def _asked(self, question: Question, mode: str) -> Reply:
        from pydantic_ai import exceptions  # noqa: PLC0415 - the extra
        from pydantic_ai.direct import model_request  # noqa: PLC0415
        from pydantic_ai.messages import ModelRequest, UserPromptPart  # noqa: PLC0415
        from pydantic_ai.settings import ModelSettings  # noqa: PLC0415

        settings = ModelSettings(max_tokens=question.most_tokens, timeout=self._seconds)
        messages = [ModelRequest(parts=[UserPromptPart(_prompt(question, mode))])]
        try:
            async with asyncio.timeout(self._seconds):
                response = await model_request(
                    self._opened(),
                    messages,
                    model_settings=settings,
                    model_request_parameters=_parameters(question, mode),
                )
        except exceptions.ModelHTTPError as error:
            raise _of_status(error, self.model) from None
        except TimeoutError:
            raise ModelError(f"{self.model} gave no answer within {self._seconds:g} s.") from None
        except Exception as error:  # noqa: BLE001
            # Whatever a library raises on the way is the same to a run: there is no answer.
            why = without_secrets(f"{type(error).__name__}: {error}")
            raise ModelError(f"{self.model} gave no answer ({why}).") from None
        return _reply(response)

    def _opened(self) -> Any:
        """Return the model of the library; each request has a client of its own."""
        if self.provider == "anthropic":
            from anthropic import AsyncAnthropic  # noqa: PLC0415 - the extra
            from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
            from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

            own = AsyncAnthropic(max_retries=0, timeout=self._seconds)
            return AnthropicModel(self.model, provider=AnthropicProvider(anthropic_client=own))
        from openai import AsyncOpenAI  # noqa: PLC0415
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
        from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

        # A local server mostly wants no key, but the library does.
        key = os.environ.get("OPENAI_API_KEY") or "none"
        client = AsyncOpenAI(api_key=key, max_retries=0, timeout=self._seconds)
        return OpenAIChatModel(self.model, provider=OpenAIProvider(openai_client=client))


class _ModeNotTaken(Exception):  # noqa: N818 - it is no fault
    """The server does not take this way of asking for JSON."""


def _named(name: str) -> tuple[str, str]:
    provider, colon, model = name.partition(":")
    if not colon or provider not in _PROVIDERS or not model.strip():
        raise OptionError(
            f"--model {name}: name the provider and the model, as openai:NAME (any server that "
            "speaks chat completions, at OPENAI_BASE_URL) or anthropic:NAME."
        )
    needed = {"openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"), "anthropic": ("ANTHROPIC_API_KEY",)}
    if not any(os.environ.get(one) for one in needed[provider]):
        raise OptionError(
            f"--model {name}: set {' or '.join(needed[provider])} in the environment."
        )
    return provider, model.strip()


def _extra(provider: str) -> None:
    """Refuse a provider whose packages are not installed; each has an extra of its own."""
    try:
        importlib.import_module("pydantic_ai")
        importlib.import_module(provider)
    except ImportError as error:
        extra = "anthropic" if provider == "anthropic" else "llm"
        raise OptionError(
            f"--model needs {error.name}, which is not installed: pip install 'kgreason[{extra}]'."
        ) from error


def _prompt(question: Question, mode: str) -> str:
    if mode != "prompted":
        return question.prompt
    schema = json.dumps(question.schema, sort_keys=True)
    return f"{question.prompt}\n\nAnswer with one JSON object of this schema alone:\n{schema}\n"


def _parameters(question: Question, mode: str) -> Any:
    from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - the extra
    from pydantic_ai.output import OutputObjectDefinition  # noqa: PLC0415
    from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415

    schema = dict(question.schema)
    if mode == "native":
        made = OutputObjectDefinition(json_schema=schema, name=question.name)
        return ModelRequestParameters(output_mode="native", output_object=made)
    if mode == "tool":
        tool = ToolDefinition(name=question.name, parameters_json_schema=schema, kind="output")
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )
    return ModelRequestParameters()


def _reply(response: Any) -> Reply:
    """Return the text of a response, or the arguments of the tool that it calls."""
    from pydantic_ai.messages import TextPart, ToolCallPart  # noqa: PLC0415 - the extra

    called = [p.args_as_json_str() for p in response.parts if isinstance(p, ToolCallPart)]
    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    usage = response.usage
    return Reply(called[0] if called else said, usage.input_tokens or 0, usage.output_tokens or 0)


def _of_status(error: Any, model: str) -> Exception:
    status, told = int(error.status_code), without_secrets(str(error.body or ""))
    if status in _NOT_TAKEN:
        return _ModeNotTaken(f"{model} refused the request ({status}: {told}).")
    again = status in _AGAIN or status >= _SERVER
    return ModelError(f"{model} gave no answer (status {status}: {told}).", again=again)


def _apart(work: Coroutine[Any, Any, Reply]) -> Reply:
    """Run what is asynchronous; a notebook has a loop that runs already, so it gets a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)  # Ctrl-C ends the request, and waits for nothing
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
