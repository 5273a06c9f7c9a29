"""Bugs of `tiermem/llm`: how a model is asked, paid and kept from telling keys."""

from tests.planted.bug import Bug

_ALL = ("tests/llm",)

BUGS = (
    Bug(
        name="a redirect to another host is followed with the dialogue",
        file="tiermem/llm/connection.py",
        function="GuardedClient._follow_redirect",
        before="same_address(here, there)",
        after="there.host",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="a reply may be of any length",
        file="tiermem/llm/connection.py",
        function="GuardedClient._read",
        before="max(taken, len(body)) > limit",
        after="not body and taken > limit",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="a packed reply is unpacked whole before it is measured",
        file="tiermem/llm/connection.py",
        function="GuardedClient._read",
        before="unpacker.decompress(chunk, limit + 1 - len(body))",
        after="unpacker.decompress(chunk)",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
    ),
    Bug(
        name="an error repeats the key",
        file="tiermem/llm/connection.py",
        function="GuardedClient._read_response",
        before="body = self._error(body)",
        after="pass",
        found_by=("tests/llm/test_hostile_endpoints.py", *_ALL),
        excuse="keys are taken out a second time where the vendor's error becomes ours, and its own words are "
        "cut off where they tell one (`OpenAIModel._attempt`)",
    ),
    Bug(
        name="a key is looked for as it is written only",
        file="tiermem/llm/redaction.py",
        function="_forms",
        before="yield raw.hex()",
        after="return",
        found_by=("tests/llm/test_redaction.py", *_ALL),
    ),
    Bug(
        name="a key that was cut is left in an error",
        file="tiermem/llm/redaction.py",
        function="",
        before="RUN = 8",
        after="RUN = 20",
        found_by=("tests/llm/test_redaction.py", *_ALL),
    ),
    Bug(
        name="a budget stops one call too late",
        file="tiermem/llm/meter.py",
        function="Meter.check",
        before="spent >= limit",
        after="spent > limit",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/reading", "tests/api"),
    ),
    Bug(
        name="tokens that come out are not counted",
        file="tiermem/llm/meter.py",
        function="Meter.check",
        before="total.input_tokens + total.output_tokens",
        after="total.input_tokens",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/reading", "tests/api"),
    ),
    Bug(
        name="one call of unknown price makes what is known unknown",
        file="tiermem/llm/meter.py",
        function="Meter.add",
        before="self.known_cost += usage.cost or 0.0",
        after="self.known_cost = usage.cost or 0.0",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="an unknown cost is nothing",
        file="tiermem/llm/meter.py",
        function="_sum_of_costs",
        before="priced and len(known) == len(priced)",
        after="priced",
        found_by=("tests/llm/test_meter.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="the meter of the house is not paid",
        file="tiermem/llm/meter.py",
        function="_paying_meters",
        before="meter = meter.outer",
        after="meter = None",
        found_by=("tests/api/test_daily_limits.py", "tests/llm", "tests/api"),
    ),
    Bug(
        name="nobody waits as long as an endpoint asks",
        file="tiermem/llm/openai.py",
        function="_translate",
        before='Transient(f"{reason} (asks for {wait:g} s of rest)" if wait else reason, wait=wait)',
        after="Transient(reason)",
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
    Bug(
        name="a used-up quota is asked again",
        file="tiermem/llm/openai.py",
        function="_translate",
        before="error.status_code == 429",
        after="error.status_code == 402",
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
    Bug(
        name="a wrong key is tried again",
        file="tiermem/llm/openai.py",
        function="_translate",
        before="408, 429",
        after="401, 408, 429",
        found_by=("tests/llm/test_openai.py", *_ALL),
    ),
    Bug(
        name="a key is left in Retry-After",
        file="tiermem/llm/connection.py",
        function="GuardedClient._read_response",
        before="self._redaction.in_error(rest)",
        after="rest",
        found_by=(
            "tests/llm/test_hostile_endpoints.py::"
            "test_the_client_of_the_vendor_gets_retry_after_without_keys",
        ),
    ),
)
