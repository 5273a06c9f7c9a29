r"""Secrets in texts of programs: tokens, keys and passwords, which are replaced by what they are.

The table has formats that their makers document, and the page of each. A format matches a whole token or
nothing, so that no half of one is left. Texts may be escaped as in JSON: a token after `\n` is found too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tiermem.errors import InvalidInput, shown

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Where a token may begin: after no letter or digit, but for that of an escaped line break or tab."""
_END = r"(?![A-Za-z0-9])"
_OWN = "own pattern"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFormat:
    """What a secret is called, its pattern, and the page that documents it.

    Only texts with one of the `marks` are looked at. Where the pattern has a group `secret`, only that is
    replaced.
    """

    name: str
    marks: tuple[str, ...]
    pattern: str
    source: str


def _token(name: str, marks: str, pattern: str, source: str) -> SecretFormat:
    """A format that is known by its prefix; `marks` are separated by blanks."""
    return SecretFormat(
        name=name, marks=tuple(marks.split()), pattern=f"{_START}{pattern}{_END}", source=source
    )


SECRET_FORMATS = (
    SecretFormat(
        name="private key",
        marks=("PRIVATE KEY",),
        pattern=r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?s:.{1,12000}?)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{20,})+)",
        source="https://www.rfc-editor.org/rfc/rfc7468",
    ),
    _token(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_[A-Za-z0-9_]{36,255}",
        "https://github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available/",
    ),
    _token(
        "GitHub fine-grained token",
        "github_pat_",
        r"github_pat_[A-Za-z0-9_]{22,255}",
        "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
    ),
    _token(
        "GitLab token",
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",
        r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,300}(?:\.[a-z0-9]{2,10}){0,3}",
        "https://docs.gitlab.com/security/tokens/",
    ),
    _token(
        "AWS access key id",
        "AKIA ASIA ABIA ACCA",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
    ),
    SecretFormat(
        name="AWS secret access key",
        marks=("ecret", "ECRET"),
        pattern=r"(?i:secret_?access_?key)(?:\\?[\"'])?\s*[:=]\s*(?:\\?[\"'])?(?P<secret>[A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    ),
    _token(
        "Slack token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe xapp-",
        r"(?:xox[abprs]-|xoxe[.-](?:xox[bp]-)?|xapp-)[A-Za-z0-9-]{10,300}",
        "https://docs.slack.dev/authentication/tokens",
    ),
    SecretFormat(
        name="Slack webhook",
        marks=("hooks.slack.com/",),
        pattern=r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,200})",
        source="https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
    ),
    _token(
        "Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        r"(?:(?:sk|rk)_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{10,250}",
        "https://docs.stripe.com/keys",
    ),
    _token(
        "Anthropic key",
        "sk-ant-",
        r"sk-ant-[A-Za-z0-9_-]{20,250}",
        "https://platform.claude.com/docs/en/api/admin-api",
    ),
    _token(
        "OpenAI key",
        "sk-",
        r"sk-(?=[A-Za-z0-9_-]*[0-9])(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,250}",
        "https://platform.openai.com/docs/api-reference/authentication",
    ),
    _token(
        "Google API key",
        "AIza",
        r"AIza[A-Za-z0-9_-]{35}",
        "https://cloud.google.com/docs/authentication/api-keys",
    ),
    _token(
        "Google OAuth secret",
        "GOCSPX- ya29.",
        r"(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_.-]{20,2048})",
        "https://developers.google.com/identity/protocols/oauth2",
    ),
    _token(
        "npm token",
        "npm_",
        r"npm_[A-Za-z0-9]{36}",
        "https://github.blog/2021-09-23-announcing-npms-new-access-token-format/",
    ),
    _token("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,500}", "https://pypi.org/help/#apitoken"),
    _token(
        "RubyGems key",
        "rubygems_",
        r"rubygems_[a-f0-9]{48}",
        "https://guides.rubygems.org/api-key-scopes/",
    ),
    _token(
        "Docker token",
        "dckr_pat_ dckr_oat_",
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}",
        "https://docs.docker.com/security/access-tokens/",
    ),
    _token(
        "Hugging Face token",
        "hf_",
        r"hf_[A-Za-z0-9]{30,60}",
        "https://huggingface.co/docs/hub/security-tokens",
    ),
    _token(
        "SendGrid key",
        "SG.",
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
    ),
    _token("Twilio key", "SK", r"SK[0-9a-f]{32}", "https://www.twilio.com/docs/iam/api-keys"),
    _token(
        "Mailchimp key",
        "-us",
        r"[0-9a-f]{32}-us[0-9]{1,2}",
        "https://mailchimp.com/developer/marketing/guides/quick-start/",
    ),
    _token(
        "Telegram bot token",
        ":",
        r"[0-9]{8,10}:[A-Za-z0-9_-]{35}",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
    ),
    _token(
        "Discord bot token",
        ".",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        "https://discord.com/developers/docs/reference#authentication",
    ),
    _token(
        "Shopify token",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    _token(
        "DigitalOcean token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"do[opr]_v1_[a-f0-9]{64}",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
    ),
    _token(
        "Vault token",
        "hvs. hvb. hvr.",
        r"hv[sbr]\.[A-Za-z0-9_-]{20,300}",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
    ),
    _token(
        "Terraform token",
        ".atlasv1.",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,80}",
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
    ),
    _token(
        "Databricks token",
        "dapi",
        r"dapi[0-9a-f]{32}(?:-[0-9])?",
        "https://docs.databricks.com/en/dev-tools/auth/pat.html",
    ),
    _token(
        "Grafana token",
        "glsa_ glc_",
        r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
    ),
    _token(
        "Linear key",
        "lin_api_ lin_oauth_",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}",
        "https://linear.app/developers/graphql",
    ),
    _token(
        "Notion token",
        "ntn_ secret_",
        r"(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})",
        "https://developers.notion.com/reference/authentication",
    ),
    _token(
        "Sentry token",
        "sntryu_ sntrys_",
        r"(?:sntryu_[a-f0-9]{64}|sntrys_[A-Za-z0-9+/=_-]{40,500})",
        "https://docs.sentry.io/security-legal-pii/security/token-formats/",
    ),
    _token(
        "New Relic key",
        "NRAK-",
        r"NRAK-[A-Z0-9]{27}",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    ),
    _token(
        "Supabase key",
        "sbp_ sb_secret_",
        r"(?:sbp_[A-Za-z0-9_]{40,60}|sb_secret_[A-Za-z0-9_-]{20,80})",
        "https://supabase.com/docs/guides/api/api-keys",
    ),
    _token(
        "Atlassian token",
        "ATATT3 ATCTT3",
        r"AT[AC]TT3[A-Za-z0-9_=-]{60,300}",
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
    ),
    SecretFormat(
        name="Azure key",
        marks=("AccountKey=", "AccessKey="),
        pattern=r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
        source="https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string",
    ),
    _token(
        "JSON web token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        "https://www.rfc-editor.org/rfc/rfc7519",
    ),
    SecretFormat(
        name="password in an address",
        marks=("://",),
        pattern=r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'`<>]{0,100}:(?P<secret>[^\s/@\"'`<>${}\[\]]{3,200})@",
        source="https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
    ),
    SecretFormat(
        name="authorization header",
        marks=("uthorization", "UTHORIZATION", "earer"),
        pattern=r"(?i:(?:authorization(?:\\?[\"'])?\s*[:=]\s*(?:\\?[\"'])?(?:bearer|basic|token)"
        r"|\bbearer(?=\s+[A-Za-z0-9._~+/=-]*[0-9])))\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,2000})",
        source="https://www.rfc-editor.org/rfc/rfc6750#section-2.1",
    ),
    SecretFormat(
        name="secret in the environment",
        marks=("PASSWORD", "PASSWD", "SECRET", "TOKEN", "KEY"),
        pattern=rf"{_START}(?:[A-Z][A-Z0-9]*_){{0,6}}"
        r"(?:PASSWORD|PASSWD|SECRET|TOKEN|APIKEY|API_KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY)"
        r"(?:\\?[\"'])?(?:=(?:\\?[\"'])?|\s*=\s*\\?[\"']|\s*:\s*(?:\\?[\"'])?(?=\S*[0-9]))"
        r"(?!/|\.|~|(?:process|os|config|settings|env|self|this|import)\.)"
        r"(?P<secret>[^\s\"'`$<>{}()\[\]\\;,*|&]{8,500}+)(?![(\[])",
        source="https://12factor.net/config",
    ),
)
"""The formats, at most forty; what is more specific comes first."""
_FORMATS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (one.name, one.marks, re.compile(one.pattern)) for one in SECRET_FORMATS
)


class SecretFilter:
    """Replaces secrets in texts by what they are: those of the table, and those of patterns of one's own.

    Raises `InvalidInput` for a pattern that is no regular expression, or matches a text without characters.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._formats = (*_FORMATS, *((_OWN, (), _own_pattern(pattern)) for pattern in own))

    def redact(self, text: str) -> tuple[str, Counter[str]]:
        """Return the text without secrets, and how many of each kind were replaced."""
        counts: Counter[str] = Counter()
        for name, marks, pattern in self._formats:
            if not marks or any(mark in text for mark in marks):
                text, number = pattern.subn(lambda found, name=name: _mark(found, name), text)  # type: ignore[misc]
                counts[name] += number
        return text, +counts


def _own_pattern(written: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(written)
    except re.error as error:
        raise InvalidInput(f"{shown(written)} is no regular expression: {error}") from error
    if pattern.match(""):
        raise InvalidInput(f"{shown(written)} matches a text without characters: it would match everywhere")
    return pattern


def _mark(found: re.Match[str], name: str) -> str:
    mark = f"[redacted: {name}]"
    if "secret" not in found.re.groupindex:
        return mark
    start, end = found.span("secret")
    whole = found[0]
    return whole[: start - found.start()] + mark + whole[end - found.start() :]
