"""Secrets are replaced whole, wherever they are in a text, and hashes, ids and paths are left alone.

All secrets are made up, from random characters in the documented shapes: none was ever valid.
"""

import json
import random
import re
import string
from collections.abc import Callable

import pytest

from tiermem.errors import InvalidInput
from tiermem.text.secrets import SECRET_FORMATS, SecretFilter

DIGITS, LOWER, UPPER = string.digits, string.ascii_lowercase, string.ascii_uppercase
LETTERS = string.ascii_letters
ALNUM, HEX = LETTERS + DIGITS, "0123456789abcdef"
URL = f"{ALNUM}_-"
BASE64 = f"{ALNUM}+/"

Make = Callable[[random.Random], str]


def run(characters: str, length: int) -> Make:
    return lambda rng: "".join(rng.choice(characters) for _ in range(length))


def after(prefix: str, characters: str, length: int, ending: str = "") -> Make:
    return lambda rng: prefix + run(characters, length)(rng) + ending


def private_key(rng: random.Random) -> str:
    lines = [run(BASE64, 64)(rng) for _ in range(12)]
    kind = rng.choice(["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"])
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


SHAPES: dict[str, Make] = {
    "github": after("ghp_", ALNUM, 36),
    "github-app": after("ghs_", ALNUM, 36),
    "github-fine": lambda rng: f"github_pat_{run(ALNUM, 22)(rng)}_{run(ALNUM, 59)(rng)}",
    "gitlab": after("glpat-", URL.replace("-", ""), 20),
    "gitlab-routable": lambda rng: f"glpat-{run(ALNUM, 27)(rng)}.01.{run(LOWER + DIGITS, 9)(rng)}",
    "aws-id": after("AKIA", UPPER + "234567", 16),
    "slack-bot": lambda rng: f"xoxb-{run(DIGITS, 12)(rng)}-{run(DIGITS, 13)(rng)}-{run(ALNUM, 24)(rng)}",
    "slack-app": lambda rng: f"xapp-1-A{run(UPPER, 10)(rng)}-{run(DIGITS, 13)(rng)}-{run(HEX, 64)(rng)}",
    "stripe": after("sk_live_", ALNUM, 99),
    "stripe-webhook": after("whsec_", ALNUM, 32),
    "anthropic": after("sk-ant-api03-", URL, 93, "AA"),
    "openai": lambda rng: f"sk-proj-{run(URL, 74)(rng)}T3BlbkFJ{run(URL, 74)(rng)}1",
    "openai-old": lambda rng: f"sk-{run(ALNUM, 20)(rng)}T3BlbkFJ{run(ALNUM, 19)(rng)}7",
    "google": after("AIza", ALNUM, 35),
    "google-oauth": after("GOCSPX-", ALNUM, 28),
    "npm": after("npm_", ALNUM, 36),
    "pypi": after("pypi-AgEIcHlwaS5vcmcC", ALNUM, 150),
    "docker": after("dckr_pat_", ALNUM, 27),
    "hugging-face": after("hf_", LETTERS, 34),
    "sendgrid": lambda rng: f"SG.{run(ALNUM, 22)(rng)}.{run(ALNUM, 43)(rng)}",
    "telegram": lambda rng: f"{run('123456789', 10)(rng)}:AA{run(ALNUM, 33)(rng)}",
    "shopify": after("shpat_", HEX, 32),
    "digitalocean": after("dop_v1_", HEX, 64),
    "vault": after("hvs.", ALNUM, 90),
    "grafana": lambda rng: f"glsa_{run(ALNUM, 32)(rng)}_{run(HEX, 8)(rng)}",
    "linear": after("lin_api_", ALNUM, 40),
    "notion": after("ntn_", ALNUM, 46),
    "sentry": after("sntryu_", HEX, 64),
    "jwt": lambda rng: f"eyJ{run(ALNUM, 33)(rng)}.eyJ{run(ALNUM, 80)(rng)}.{run(ALNUM, 43)(rng)}",
    "private-key": private_key,
}
"""Thirty shapes of tokens; each is made twice."""

IN_CONTEXT: list[tuple[str, Make]] = [
    ("postgres://ann:{}@db.example.org:5432/loom", run(ALNUM, 18)),
    ("curl -H 'Authorization: Bearer {}' https://example.org", run(ALNUM, 40)),
    ("aws_secret_access_key = {}", run(BASE64, 40)),
    ("export LOOM_API_KEY={}", run(ALNUM, 24)),
    ("DB_PASSWORD='{}'", run(ALNUM, 16)),
]
"""Secrets that only what is around them tells; not counted among the sixty."""

PLACES: list[Callable[[str], str]] = [
    lambda secret: f"The key is {secret}.",
    lambda secret: f"TOKEN={secret}",
    lambda secret: json.dumps({"command": f"login\n{secret}\nrun"}),
    lambda secret: json.dumps({"headers": {"key": f"\t{secret}"}}),
    lambda secret: f"     3→token: '{secret}',\n     4→next",
    lambda secret: f"https://example.org/x?token={secret}&page=2",
    lambda secret: f"`{secret}`",
    lambda secret: f"({secret})",
]
"""Where secrets are in transcripts: words, settings, JSON with escaped breaks, numbered lines, addresses."""


def made_up_secrets() -> list[tuple[str, str, str]]:
    """Sixty: the name of the shape, the secret and the text that it is in."""
    rng = random.Random(57)
    secrets = []
    for number, (name, make) in enumerate([*SHAPES.items(), *SHAPES.items()]):
        secret = make(rng)
        secrets.append((name, secret, PLACES[number % len(PLACES)](secret)))
    return secrets


def leftover(secret: str, text: str) -> str:
    """The longest run of random characters of a secret that is left in a text, of at least six."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", secret) if len(part) >= 12]
    runs = [part[at : at + 6] for part in parts for at in range(4, len(part) - 5)]
    return next((one for one in runs if one in text), "")


def test_of_sixty_made_up_secrets_at_least_58_are_redacted_whole() -> None:
    secrets = made_up_secrets()
    assert len(secrets) == 60
    left = [
        (name, leftover(secret, redacted))
        for name, secret, text in secrets
        if leftover(secret, redacted := SecretFilter().redact(text)[0])
    ]
    assert len(left) <= 2, left


@pytest.mark.parametrize(("text", "make"), IN_CONTEXT)
def test_a_secret_that_only_its_place_tells_is_redacted_and_its_place_is_kept(text: str, make: Make) -> None:
    secret = make(random.Random(5))
    redacted, counts = SecretFilter().redact(text.format(secret))
    assert leftover(secret, redacted) == ""
    assert secret not in redacted
    assert redacted.startswith(text.partition("{}")[0])
    assert counts.total() == 1


def harmless_texts() -> list[str]:
    """Three hundred hashes, ids, versions and paths, as they are in transcripts."""
    rng = random.Random(58)

    def uuid() -> str:
        return "-".join(run(HEX, length)(rng) for length in (8, 4, 4, 4, 12))

    makers: list[Callable[[], str]] = [
        lambda: run(HEX, 40)(rng),
        lambda: run(HEX, 64)(rng),
        lambda: run(HEX, 32)(rng),
        lambda: f"commit {run(HEX, 40)(rng)}",
        lambda: f"sha256:{run(HEX, 64)(rng)}",
        lambda: f"index {run(HEX, 7)(rng)}..{run(HEX, 7)(rng)} 100644",
        lambda: f'"integrity": "sha512-{run(BASE64, 86)(rng)}=="',
        uuid,
        lambda: f"session_id={uuid()}",
        lambda: f"toolu_{run(ALNUM, 24)(rng)}",
        lambda: f"msg_{run(ALNUM, 24)(rng)} req_{run(ALNUM, 24)(rng)}",
        lambda: f"/home/ann/{run(LOWER, 8)(rng)}/src/{run(LOWER, 12)(rng)}_token.py:{rng.randint(1, 900)}",
        lambda: (
            f"node_modules/.pnpm/{run(LOWER, 9)(rng)}@{rng.randint(1, 9)}.{rng.randint(0, 40)}.1/index.js"
        ),
        lambda: f"~/.cache/pip/wheels/{run(HEX, 2)(rng)}/{run(HEX, 2)(rng)}/{run(HEX, 60)(rng)}",
        lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{run(BASE64, 43)(rng)} ann@loom",
        lambda: f"SSL_PRIVATE_KEY=/etc/ssl/{run(LOWER, 8)(rng)}.pem",
        lambda: f"2026-03-01T10:00:00.{run(DIGITS, 9)(rng)}Z pid={run(DIGITS, 7)(rng)}",
        lambda: f"MAX_TOKENS={rng.randint(1000, 99999)} TOKEN_LIMIT: {rng.randint(1000, 99999)}",
        lambda: f"http://localhost:{rng.randint(3000, 9999)}/users/@{run(LOWER, 8)(rng)}",
        lambda: f"risk-{run(LOWER, 9)(rng)}-{run(LOWER, 9)(rng)}-{run(DIGITS, 4)(rng)} task-{uuid()}",
    ]
    return [makers[number % len(makers)]() for number in range(300)]


def test_of_300_hashes_ids_and_paths_at_most_2_are_redacted() -> None:
    texts = harmless_texts()
    assert len(texts) == 300
    changed = [text for text in texts if SecretFilter().redact(text)[0] != text]
    assert len(changed) <= 2, changed


@pytest.mark.parametrize(
    "text",
    [
        'API_KEY = os.environ["API_KEY"]',
        "const API_KEY = process.env.API_KEY;",
        "SECRET_KEY: Optional[SecretStr] = None",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "https://$USER:${TOKEN}@github.com/ann/loom",
        "TOKEN=$(gh auth token)",
        "The header is `Authorization: Bearer <token>`.",
        "Use a bearer token for authentication-and-authorization.",
        "-----BEGIN PRIVATE KEY----- is how a key begins.",
        "TOKEN = re.compile(pattern)",
        "ACCESS_TOKEN=get_token_from_vault()",
        "SECRET = settings.SECRET_OF_LOOM",
        "git clone git@github.com:ann/loom.git",
        "ghp_ is the prefix, and sk-learn is a package",
    ],
)
def test_code_and_words_about_secrets_are_left_alone(text: str) -> None:
    assert SecretFilter().redact(text) == (text, {})


def test_what_was_redacted_is_named_and_counted() -> None:
    rng = random.Random(1)
    first, second = SHAPES["github"](rng), SHAPES["github"](rng)
    text, counts = SecretFilter().redact(f"a {first} b {second} c")
    assert text == "a [redacted: GitHub token] b [redacted: GitHub token] c"
    assert counts == {"GitHub token": 2}


def test_redacting_twice_changes_nothing() -> None:
    for _, _, text in made_up_secrets():
        once, _ = SecretFilter().redact(text)
        assert SecretFilter().redact(once) == (once, {})


def test_a_key_that_was_cut_off_is_redacted_as_far_as_it_goes() -> None:
    key = private_key(random.Random(3)).partition("-----END")[0][:300]
    text, _ = SecretFilter().redact(f"cat key\n{key}\n")
    assert leftover(key, text) == ""
    assert text.startswith("cat key\n[redacted: private key]")


def test_patterns_of_ones_own_are_redacted_too() -> None:
    text, counts = SecretFilter([r"LOOM-\d{6}"]).redact("badge LOOM-123456, room 12")
    assert (text, counts) == ("badge [redacted: own pattern], room 12", {"own pattern": 1})


@pytest.mark.parametrize("pattern", ["(", "x*"])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        SecretFilter([pattern])


def test_the_table_is_small_and_each_format_has_a_source_and_a_name() -> None:
    assert len(SECRET_FORMATS) <= 40
    assert len({one.name for one in SECRET_FORMATS}) == len(SECRET_FORMATS)
    assert all(one.source.startswith("https://") and one.marks for one in SECRET_FORMATS)
