"""Bugs of `tiermem/llm`: how a model is asked, paid and kept from telling keys."""

from tests.planted.bug import Bug

_ALL = ("tests/llm",)

BUGS = (
    Bug(
        name="a redirect to another host is followed with the dialogue",
        file="tiermem/llm/connection.py",
        before="if not same_address(here, there):",
        after="if not there.host:",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="a reply may be of any length",
        file="tiermem/llm/connection.py",
        before="if max(taken, len(body)) > limit:",
        after="if not body and taken > limit:",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="a packed reply is unpacked whole before it is measured",
        file="tiermem/llm/connection.py",
        before="unpacker.decompress(chunk, limit + 1 - len(body)) if unpacker",
        after="unpacker.decompress(chunk) if unpacker",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="an error repeats the key",
        file="tiermem/llm/connection.py",
        before="            body = self._error(body)\n",
        after="            pass\n",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
        excuse="keys are taken out a second time where the vendor's error becomes ours, and its own words are "
        "cut off where they tell one (`OpenAIModel._attempt`)",
    ),
    Bug(
        name="a key is looked for as it is written only",
        file="tiermem/llm/redaction.py",
        before="    yield raw.hex()\n",
        after="    return\n",
        found_by=("tests/llm/test_redaction.py", *_ALL),
    ),
    Bug(
        name="a key that was cut is left in an error",
        file="tiermem/llm/redaction.py",
        before="RUN = 8\n",
        after="RUN = 20\n",
        found_by=("tests/llm/test_redaction.py", *_ALL),
    ),
    Bug(
        name="a budget stops one call too late",
        file="tiermem/llm/meter.py",
        before="if limit is not None and spent >= limit:",
        after="if limit is not None and spent > limit:",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/reading", "tests/api"),
    ),
    Bug(
        name="tokens that come out are not counted",
        file="tiermem/llm/meter.py",
        before='"tokens": (total.input_tokens + total.output_tokens, budget.tokens),',
        after='"tokens": (total.input_tokens, budget.tokens),',
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/reading", "tests/api"),
    ),
    Bug(
        name="one call of unknown price makes what is known unknown",
        file="tiermem/llm/meter.py",
        before="            self.known_cost += usage.cost or 0.0\n",
        after="            self.known_cost = usage.cost or 0.0\n",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="an unknown cost is nothing",
        file="tiermem/llm/meter.py",
        before="return sum(known) if priced and len(known) == len(priced) else None",
        after="return sum(known) if priced else None",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="the meter of the house is not paid",
        file="tiermem/llm/meter.py",
        before="            meter.models[model] = None\n        meter = meter.outer\n",
        after="            meter.models[model] = None\n        meter = None\n",
        found_by=("tests/api/test_daily_limits.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="nobody waits as long as an endpoint asks",
        file="tiermem/llm/openai.py",
        before='return Transient(f"{reason} (asks for {wait:g} s of rest)" if wait else reason, wait=wait)',
        after="return Transient(reason)",
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
    Bug(
        name="a used-up quota is asked again",
        file="tiermem/llm/openai.py",
        before='if error.status_code == 429 and error.code == "insufficient_quota":',
        after='if error.status_code == 402 and error.code == "insufficient_quota":',
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
    Bug(
        name="a wrong key is tried again",
        file="tiermem/llm/openai.py",
        before="if error.status_code in (408, 429) or error.status_code >= 500:",
        after="if error.status_code in (401, 408, 429) or error.status_code >= 500:",
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
)
