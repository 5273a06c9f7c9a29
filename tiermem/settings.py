"""Settings of the door, from arguments, the environment (`TIERMEM_*`) or a file, read once at opening.

Nothing leaves the machine unless a model, a remote embedder or an index server is named here: an API
key lying in the environment is not a wish to use it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tiermem.dialogue.trust import DEFAULT_LEVELS
from tiermem.model import WriteBackVariant

When = Literal["inline", "background", "deferred"]
RouterName = Literal["llm", "gate", "always", "never"]


class Settings(BaseSettings):
    """Everything that can be chosen when a memory is opened; each field is also `TIERMEM_<FIELD>`."""

    model_config = SettingsConfigDict(
        env_prefix="TIERMEM_", extra="forbid", frozen=True, populate_by_name=True
    )

    model: str | None = None
    """Name of the language model; naming one is what turns `engine="auto"` into `"model"`."""
    base_url: str | None = None
    """OpenAI-compatible endpoint (vLLM, Ollama, …); OpenAI's own when `None`."""
    api_key: SecretStr | None = None
    """Key for the endpoint; `OPENAI_API_KEY` is used when a model is named and this is unset."""
    role_models: dict[str, str] = Field(default_factory=dict)
    """Another model for single roles, e.g. `{"route": "small-router"}`."""
    model_timeout: float = Field(default=60.0, gt=0)
    """Seconds one attempt of a model call may take."""
    model_concurrency: int = Field(default=8, ge=1)
    """Model calls under way at once."""

    embedder: str = "minilm"
    """`minilm` (local), `minilm:int8` (the same, two to four times as fast, nearly as exact) or
    `openai:<model name>` (through the endpoint above)."""
    weights: Path | None = None
    """Directory that holds the MiniLM weights, instead of looking for them."""

    index: str = "embedded"
    """`embedded` (Qdrant Edge beside the pages), `memory`, or the URL of a Qdrant server."""
    index_api_key: SecretStr | None = None

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
    """What model calls of known price may cost in a day, in the currency of the prices."""

    router: RouterName = "llm"
    """Who decides which tier answers; `llm` asks the engine, which may be the local one."""
    links: bool = True
    """Whether escalation reads the linked pages first (off: the paper's No-Linked ablation)."""
    distil: When = "background"
    """When sealed pages are summarised."""
    write_back: When = "background"
    """When proved findings go to Tier 1; `deferred` waits for `apply_findings()`."""
    write_back_variant: WriteBackVariant = "retrieve-and-edit"

    trust_levels: tuple[str, ...] = Field(default=DEFAULT_LEVELS, min_length=1)
    """Levels of trust, lowest first. Turns are stamped by the caller (`add(…, trust=…)`); a turn without a
    stamp counts as `tool` or `assistant` by its role, else as `user`; a level not listed here, as the lowest.
    """
    write_back_trust: str | None = None
    """The level below which a finding is not written back; `None` for any."""

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
