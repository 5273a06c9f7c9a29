"""Settings of a memory, from arguments, the environment (`TIERMEM_*`) or a file, read once at opening.

Nothing leaves the machine unless a model, a remote embedder or an index server is named here: an API
key lying in the environment is not a wish to use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tiermem.embedding.named import EMBEDDERS
from tiermem.errors import InvalidInput, not_one_of, shown
from tiermem.index.named import INDEXES
from tiermem.llm.endpoint import Price
from tiermem.llm.redaction import shown_url
from tiermem.model import Unproved, WriteBackVariant
from tiermem.named import Registry
from tiermem.reading.rerank import RERANKERS
from tiermem.trust import DEFAULT_LEVELS

When = Literal["inline", "background", "deferred"]
RouterName = Literal["fused", "llm", "gate", "always", "never"]

EMBEDDED = "embedded"
IN_PROCESS = "memory"
IN_STORE = "pgvector"
_NAMED: Mapping[str, Registry[Any]] = {"embedder": EMBEDDERS, "index": INDEXES, "reranker": RERANKERS}
"""What other packages may bring a part for, in addition to what is listed at the setting."""


class Settings(BaseSettings):
    """Everything that can be chosen when a memory is opened; each field is also `TIERMEM_<FIELD>`."""

    model_config = SettingsConfigDict(
        env_prefix="TIERMEM_",
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,  # a key may be among what was given
    )

    model: str | None = None
    """Name of the language model; naming one is what turns `engine="auto"` into `"model"`."""
    base_url: str | None = None
    """OpenAI-compatible endpoint (vLLM, Ollama, …); OpenAI's own when `None`."""
    api_key: SecretStr | None = None
    """Key for the endpoint; `OPENAI_API_KEY` is used when a model is named and this is unset."""
    role_models: dict[str, str] = Field(default_factory=dict)
    """Another model for single roles, e.g. `{"route": "small-router"}`."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices per million tokens by model name, e.g. `{"gpt": {"input": 2.5, "output": 10}}`; a limit of cost
    needs them.
    """
    model_timeout: float = Field(default=60.0, gt=0)
    """Seconds one attempt of a model call may take."""
    model_deadline: float | None = Field(default=240.0, ge=0)
    """Seconds all attempts of a model call may take together, with the waits between them; an attempt that
    is under way then is cut short. `None` or 0 for no such limit: raise `model_timeout` as well for a
    model that is slow to answer.
    """
    model_reply_mb: float = Field(default=4.0, gt=0)
    """Megabytes of one reply that are read, unpacked; embeddings may take eight times as many. A longer reply
    is `MalformedReply`."""
    model_concurrency: int = Field(default=8, ge=1)
    """Model calls under way at once."""

    embedder: str = "minilm"
    """`minilm` (local), `minilm:int8` (the same, two to four times as fast, nearly as exact),
    `openai:<model name>` (through the endpoint above), `hashed` (words by their hashes, to try things out) or
    one that an installed package brings (`tiermem.embedders`)."""
    weights: Path | None = None
    """Directory that holds the MiniLM weights, instead of looking for them."""

    index: str = EMBEDDED
    """`embedded` (one file in the directory of the pages, or tables in the database of a store in
    PostgreSQL), `memory` (in this process, nothing written, made again from pages and ledger at each
    opening), `pgvector` (in the database of a store in PostgreSQL, and searched there), the `http://` or
    `https://` URL of a Qdrant server, the `postgresql://` URL of a database with pgvector; or one that an
    installed package brings (`tiermem.indexes`).
    """
    index_api_key: SecretStr | None = None
    """Key for the Qdrant server."""

    hot_units: int | None = Field(default=None, ge=1)
    """Units of each agent, and of no agent, that the index holds at most. Beyond it those that matter least
    go cold, are found by their words and by their turns, and are hot again once an answer cites them. It is
    on record: `None` leaves it as the space has it, which is without a limit where none was ever given. A
    larger number lifts it.
    """

    reranker: str | None = None
    """What judges again how well found turns or pages fit: `learned`, turns by the small reader;
    `cross-encoder:<directory>`, pages by a model of yours; or one that an installed package brings
    (`tiermem.rerankers`). `None`: nothing does.
    """

    page_tokens: int = Field(default=1000, ge=50)
    """Size at which a page seals (TierMem paper, A.2: 1,000)."""
    idle_seal: float = Field(default=30.0, gt=0)
    """Minutes after which the open page of an idle session seals: by the clock, since its last turn was
    recorded, or by said time, when another session has gone on for as long since; `inf` for never."""
    recall_units: int = Field(default=5, ge=1)
    """Units recalled for a question."""
    research_rounds: int = Field(default=3, ge=1)
    """Rounds of the research loop at most (TierMem paper, §4.1.2: 3)."""
    research_pages: int = Field(default=5, ge=1)
    """New pages read in a round at most."""

    daily_calls: int | None = Field(default=None, ge=0)
    """Model calls a space may make in a day (of UTC); beyond it, `BudgetExceeded`."""
    daily_tokens: int | None = Field(default=None, ge=0)
    """Tokens, in and out, that models may take in a day."""
    daily_cost: float | None = Field(default=None, ge=0)
    """What model calls may cost in a day, in the currency of `prices`, without which this is an error."""

    router: RouterName | None = None
    """Who decides with a language model whether what was recalled is enough. `fused`, the default: none
    beforehand, the answer says itself whether it is complete (one call). `llm`: the engine is asked first, as
    published (two calls). `gate`: rules on similarity and covered terms. `always` and `never` read more every
    time and never. An error without a model, which reads no more than was recalled.
    """
    reader: str = "auto"
    """What orders the lines of answers without a language model: `auto`, the search and the small reader that
    comes with the package, where there is one and it was calibrated with the embedder; `none`, the search
    alone; or the file of a reader that `python -m eval.research train` wrote.
    """
    risk: float = Field(default=0.3, ge=0, le=1)
    """The share of answers without a language model whose first line may not hold what is asked for: those
    less sure abstain, and display their lines as the nearest. It was kept on the conversations the reader was
    calibrated with; on others it may be more or less.
    """
    recall_turns: int = Field(default=15, ge=0)
    """Single turns recalled with the units; 0 for units alone, as published."""
    recall_tokens: int = Field(default=1000, ge=1)
    """Tokens that recalled units and turns may take together."""
    unproved: Unproved = "mark"
    """What becomes of an answer that has unsupported words, is too long to be checked, or has only words of
    another memory. `abstain` withholds it. `mark` gives it: `Answer.unsupported` lists the words,
    `Answer.cautions` has `memory`, and `Answer.sentences` is empty where it is too long. `Answer.support`
    does not say so: words of another memory may be `quoted`.
    """
    links: bool = True
    """Whether escalation reads the linked pages first (off: the paper's No-Linked ablation)."""
    distil: When = "background"
    """When sealed pages are summarised."""
    distil_concurrency: int = Field(default=4, ge=1)
    """Pages summarised at once; a model is asked for no more at once than `model_concurrency`."""
    write_back: When = "background"
    """When confirmed findings are written to Tier 1; `deferred` waits for `apply_findings()`."""
    write_back_variant: WriteBackVariant = "retrieve-and-edit"
    consolidate: Literal["off", "idle"] | float = "off"
    """When what waits is done and units that tell the same are merged, in the background while nothing is
    asked: every so many seconds (300 is often enough), `idle` whenever a session is over and at opening, or
    `off`, only by `memory.consolidate()`.
    """

    trust_levels: tuple[str, ...] = Field(default=DEFAULT_LEVELS, min_length=1)
    """Levels of trust, lowest first. Turns are stamped by the caller (`add(…, trust=…)`); a turn without a
    stamp counts as `tool` or `assistant` by its role, else as `user`; a level not listed here, as the lowest.
    """
    write_back_trust: str | None = None
    """The level below which a finding is not written back; `None` for any."""

    share: Literal["private", "semantic"] = "private"
    """Who sees units that were made of what belongs to an agent: that agent, until they are shared, or
    (`semantic`) every agent of the space. The words they rest on are the agent's own either way."""
    unsearched_roles: tuple[str, ...] = ()
    """Turns of these roles (`system`, say) are stored and read with their page, and no search finds them."""

    if not TYPE_CHECKING:  # the fields are what a type checker is to see

        def __init__(self, **given: Any) -> None:
            """Raises `InvalidInput`, which names every setting that cannot be used, and why."""
            try:
                super().__init__(**given)
            except ValidationError as error:
                complaints = "; ".join(map(_complaint, error.errors()))
                raise InvalidInput(f"these settings cannot be used: {complaints}") from error

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Every setting, as `repr` shows it: without keys, and URLs without user and password."""
        for name, value in super().__repr_args__():
            yield name, shown_url(value) if name in ("base_url", "index") and value else value

    @field_validator("router", mode="before")
    @classmethod
    def _a_router(cls, given: Any) -> Any:
        if given is not None and given not in get_args(RouterName):
            raise ValueError(not_one_of(given, get_args(RouterName)))
        return given

    @field_validator("distil", "write_back", "write_back_variant", mode="before")
    @classmethod
    def _one_of_the_names(cls, given: Any, info: ValidationInfo) -> Any:
        names = get_args(cls.model_fields[str(info.field_name)].annotation)
        if given not in names:
            raise ValueError(not_one_of(given, names))
        return given

    @field_validator("consolidate", mode="before")
    @classmethod
    def _a_time_to_consolidate(cls, given: Any) -> Any:
        names = ("off", "idle")
        if given in names:
            return given
        try:
            seconds = math.nan if isinstance(given, bool) else float(given)
        except (TypeError, ValueError):
            seconds = math.nan
        if not 0 < seconds < math.inf:
            raise ValueError(f"must be 'off', 'idle', or a number of seconds above 0, not {shown(given)}")
        return seconds

    @field_validator(*_NAMED)
    @classmethod
    def _a_part_there_is(cls, given: str | None, info: ValidationInfo) -> str | None:
        if given is not None:
            _NAMED[str(info.field_name)].check(given)
        return given

    @field_validator("trust_levels")
    @classmethod
    def _each_level_once(cls, levels: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(levels)) < len(levels) or not all(levels):
            raise ValueError("each level needs a name of its own")
        return levels

    @model_validator(mode="after")
    def _the_floor_is_a_level(self) -> Self:
        if self.write_back_trust is not None and self.write_back_trust not in self.trust_levels:
            raise ValueError(f"write_back_trust must be one of {', '.join(self.trust_levels)}")
        return self


def _complaint(error: Mapping[str, Any]) -> str:
    """What is wrong with one setting, in a line."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        near = get_close_matches(name, Settings.model_fields, n=1)
        return f"no setting is called {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    return f"{name}: {str(error['msg']).removeprefix('Value error, ')}"
