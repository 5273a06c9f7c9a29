"""The recipes say what the paper's tables say, by arguments that ms-swift has.

ms-swift was not installed: names were read from the source of its wheel, version 3.12.6, and where it leaves
one to transformers' `TrainingArguments`, from its page "Command Line Parameters", of the same line (3.12).
"""

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from eval.research.training.router import router_reward

RECIPES = Path(router_reward.__file__).parent / "recipes"

TABLE_9: dict[str, Any] = {
    "train_type": "lora",
    "torch_dtype": "bfloat16",
    "num_train_epochs": 5,
    "learning_rate": 1e-4,
    "max_length": 4096,
    "per_device_train_batch_size": 8,
    "per_device_eval_batch_size": 4,
    "gradient_accumulation_steps": 1,
    "lora_rank": 64,
    "lora_alpha": 128,
    "target_modules": "all-linear",
    "warmup_ratio": 0.1,
    "eval_steps": 10,
    "save_steps": 10,
    "save_total_limit": 5,
    "logging_steps": 1,
    "dataloader_num_workers": 4,
    "loss_scale": "ignore_empty_think",
    "use_liger_kernel": True,
    "deepspeed": "zero2",
}

TABLE_10: dict[str, Any] = {
    "rlhf_type": "grpo",
    "torch_dtype": "bfloat16",
    "num_train_epochs": 6,
    "max_length": 2048,
    "learning_rate": 5e-6,
    "max_completion_length": 256,
    "per_device_train_batch_size": 24,
    "per_device_eval_batch_size": 24,
    "gradient_accumulation_steps": 1,
    "warmup_ratio": 0.05,
    "deepspeed": "zero2",
    "target_modules": "all-linear",
    "lora_rank": 64,
    "lora_alpha": 128,
    "dataloader_num_workers": 4,
    "logging_steps": 5,
    "save_steps": 50,
    "log_completions": True,
    "temperature": 1.2,
    "num_generations": 8,
    "local_rollout_forward_batch_size": 8,
    "beta": 0.02,
    "report_to": "wandb",
}

OURS = {"model", "dataset", "val_dataset", "output_dir", "seed"}
"""What the tables do not print and a run cannot do without."""
OURS_OF_GRPO = {"adapters", "ref_adapters", "external_plugins", "reward_funcs", "train_type"}

MS_SWIFT = {
    "adapters", "beta", "dataloader_num_workers", "dataset", "external_plugins", "learning_rate",
    "gradient_accumulation_steps", "local_rollout_forward_batch_size", "log_completions", "logging_steps",
    "lora_alpha", "lora_rank", "loss_scale", "max_completion_length", "max_length", "model",
    "num_generations", "output_dir", "per_device_eval_batch_size", "per_device_train_batch_size",
    "ref_adapters", "report_to", "reward_funcs", "rlhf_type", "seed", "target_modules", "temperature",
    "torch_dtype", "train_type", "use_liger_kernel", "val_dataset",
}  # fmt: skip
"""Fields of the classes of arguments in the source of ms-swift 3.12.6."""
TRANSFORMERS = {
    "deepspeed", "eval_steps", "num_train_epochs", "save_steps", "save_total_limit", "warmup_ratio",
}  # fmt: skip
"""Of transformers' `TrainingArguments`, which ms-swift's inherit; its documentation names each."""


def recipe(name: str) -> dict[str, Any]:
    read = yaml.safe_load((RECIPES / f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(read, dict)
    return read


@pytest.mark.parametrize(("name", "table"), [("sft", TABLE_9), ("grpo", TABLE_10)])
def test_a_recipe_has_every_row_of_its_table(name: str, table: dict[str, Any]) -> None:
    given = recipe(name)
    assert {key: given.get(key) for key in table} == table


@pytest.mark.parametrize(
    ("name", "table", "more"), [("sft", TABLE_9, set()), ("grpo", TABLE_10, OURS_OF_GRPO)]
)
def test_a_recipe_has_nothing_but_its_table_and_what_a_run_needs(
    name: str, table: dict[str, Any], more: set[str]
) -> None:
    assert recipe(name).keys() == table.keys() | OURS | more


@pytest.mark.parametrize("name", ["sft", "grpo"])
def test_every_key_is_an_argument(name: str) -> None:
    assert recipe(name).keys() <= MS_SWIFT | TRANSFORMERS


def test_learning_by_reward_begins_at_what_was_learned_by_label_and_is_measured_from_there() -> None:
    sft, grpo = recipe("sft"), recipe("grpo")
    assert grpo["model"] == sft["model"]
    assert grpo["adapters"] == grpo["ref_adapters"]
    assert str(grpo["adapters"]).startswith(sft["output_dir"])
    assert (RECIPES.parent / grpo["external_plugins"]).is_file()
    assert grpo["reward_funcs"] == router_reward.NAME


@pytest.mark.parametrize("name", ["sft", "grpo"])
def test_a_recipe_says_that_nobody_ran_it(name: str) -> None:
    assert "Nobody has run this here" in (RECIPES / f"{name}.yaml").read_text(encoding="utf-8")
