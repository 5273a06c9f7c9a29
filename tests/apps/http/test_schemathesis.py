"""What the OpenAPI document promises, tried by schemathesis: `make test-http`, which sets it up.

It is a program with needs of its own, so it runs from an environment of its own, named by `SCHEMATHESIS`.
`SCHEMATHESIS_EXAMPLES` says how many requests of each kind it makes up for an operation.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.torture.serving import Process
from tiermem.apps.http.keys import Keys, keys_beside

PROGRAM = os.environ.get("SCHEMATHESIS")
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "20")
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "ignored_auth",
)


@pytest.mark.skipif(PROGRAM is None, reason="needs schemathesis, which `make test-http` sets up")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("right", ["admin", "an agent's"])
def test_every_operation_answers_as_documented_whatever_it_is_sent(tmp_path: Path, right: str) -> None:
    server = Process(tmp_path / "store", rate=0)
    keys, agent = Keys(keys_beside(tmp_path / "store")), None if right == "admin" else "zora"
    token, _ = keys.make("any", spaces=["*"], rights=["admin"] if agent is None else ["read"], agent=agent)
    try:
        done = subprocess.run(
            [
                str(PROGRAM),
                "run",
                f"{server.url}/openapi.json",
                "--header",
                f"Authorization: Bearer {token}",
                "--checks",
                ",".join(CHECKS),
                "--phases",
                "examples,coverage,fuzzing",
                "--max-examples",
                EXAMPLES,
                "--continue-on-failure",
                "--seed",
                "1",
                "--no-color",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    finally:
        code, said = server.stop()
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert (code, "Traceback" in said) == (0, False), said[-5_000:]
