"""Tells names of speakers from other words before a colon: `Note:`, `server:`, `Step 2:`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tiermem.text.words import phrase_list, word_list

_ROLES = frozenset(
    word_list("user assistant system human ai bot model tool function agent developer me you chatgpt claude")
)
"""Names of those who write to each other in a chat with a machine."""
LABELS = frozenset(
    phrase_list("""
        note, notes, nb, n.b., p.s., edit, update, warning, warnings, error, errors, fatal, debug,
        info, traceback, caused by, hint, caution, danger, important, attention, notice, todo,
        fixme, fyi, tl;dr, tldr, summary, example, examples, e.g., i.e., usage, output, input,
        expected, actual, question, answer, conclusion, reason, problem, solution, source, sources,
        see also, url, http, https, ftp, ssh, mailto, tel, phone, fax, email, e-mail, website, web,
        address, location, date, time, deadline, duration, subject, attachment, attachments,
        subtotal, quantity, version, status, command, step, option, chapter, section, figure, table,
        ingredients, directions, pros, cons, reminder, agenda, translation, definition, correction,
        username, password, login, wifi, iban, hinweis, achtung, warnung, fehler, beispiel,
        anmerkung, wichtig, ergebnis, adresse, betreff, uhrzeit, treffpunkt, telefon, remarque,
        avertissement, erreur, exemple, résumé, nota, notas, aviso, advertencia, ejemplo,
        importante, resumen, dirección, asunto, fecha, avviso, errore, esempio, attenzione,
        riassunto, indirizzo, oggetto, erro, exemplo, atenção, resumo, endereço, let op,
        waarschuwing, voorbeeld, belangrijk, varning, exempel, viktigt, bemærk, advarsel, fejl,
        eksempel, uwaga, ostrzeżenie, przykład, 注意, 提示, 警告, 错误,
        sql, json, xml, yaml, html, css, csv, api, sdk, pdf, ssl, tls, dns, vpn, usb, cpu, gpu, ssd,
        isbn, eta, faq, rsvp, kcal, vat
    """)
)
"""Words before a colon that announce what follows, in lower case."""
RARE_NAMES = frozenset(
    phrase_list("""
        ps, tip, trace, exception, result, results, return, returns, fix, cause, link, links, file,
        mobile, mail, where, when, what, who, why, how, due, start, end, cc, bcc, from, to, re, fwd,
        sent, price, cost, total, sum, amount, size, colour, color, weight, name, title, author,
        type, value, key, id, path, part, line, item, day, week, phase, point, rule, room, method,
        serves, rating, topic, topics, meaning, quote, spoiler, recipe, plan, plan a, plan b, pin,
        code, hora, lugar, obs, fel, fout, błąd, 注, 例
    """)
)
"""Words that announce what follows and are names too (`Price`, `Line`): they are names where they recur."""
_KEYS = frozenset(
    word_list("""
        host hosts server servers port ports services service image volumes environment env user database db
        build run script scripts on jobs steps with default defaults enabled debug level log logging timeout
        width height style class import export const let var function def class self return if else elif try
        except finally case switch while for data items list map config settings options params headers body
        method content message messages text description label labels tags tag category kind mode format
        language lang region zone bucket domain proxy token secret client clients network networks memory cpu
        root home dir directory module package dependencies license repository main branch commit revision
    """)
)
"""Keys of settings and words of code; with a capital letter some of them are names (`Host:`)."""
_LONGEST_SINGLE = 4
"""Words of a name that occurs once, at most."""
_LONGEST_LOWER = 2
"""The same of a name in lower case, in a file that writes names so."""
_MOST_STAMPED = 3
"""Turns with times from which on the others of a file are expected to have times too."""
_NUMBER = re.compile(r" ?#?\d{1,4}$| [a-z]$")
"""The number or letter of a step or an option, at the end of its name in lower case."""
_ERROR_TYPES = ("Error", "Exception", "Warning")
"""How the names of types of errors end (`ValueError`), with which messages of programs begin."""
_AMOUNT = re.compile(r"[~≈<>]?\s?[€$£¥]?\s?\d[\d.,:/–-]*\s?(?:[^\W\d_]{1,10}\.?|%|[€$£¥])?")
"""A number, alone or with one unit: `300 g`, `1/2 tsp`, `4.50 €`."""
_FEWEST_ROWS = 2
"""Rows from which on amounts under names that occur once are a list, and no turns."""
_FEWEST_RECURRING = 2
"""Names that recur from which on a file is a chat whose other names may be those of lists."""
_PARTICLES = frozenset(
    word_list("van von de der den del della di da do dos du la le el al bin ibn ben af av y e zu ter")
)
"""Words in names that are written in lower case."""


@dataclass(frozen=True, slots=True)
class NameBeforeColon:
    """Words before a colon at the beginning of a line, with what surrounds them.

    `is_stamped` says whether a time is before them, `text` is what follows the colon, `line` the number of
    the line and `above` the line before it.
    """

    name: str
    is_stamped: bool
    text: str = ""
    line: int = 0
    above: str = ""


def speakers_among(openings: Sequence[NameBeforeColon]) -> frozenset[str]:
    """The names of the speakers of a file in lower case; `openings` are those of its lines, in order.

    A speaker is the first name, a name with a time, one that recurs, or a short one that is capitalised. A
    word that announces what follows (`Note:`) is none, unless the file begins with such a word and it recurs,
    as `Question:` and `Answer:` do. Nor is a word in a list of amounts (`Flour: 300 g`, `Milk: 2`) in a chat
    of others. Where most turns have times a name without one must have one elsewhere.
    """
    if not openings:
        return frozenset()
    first = openings[0].name
    stamped = {_lower_name(one.name) for one in openings if one.is_stamped}
    known = stamped | {_lower_name(first)}
    others = [one for one in openings if _lower_name(one.name) not in known]
    stamps = sum(one.is_stamped for one in openings)
    if stamps >= max(_MOST_STAMPED, len(others)):
        return frozenset(known)
    counts = Counter(_lower_name(one.name) for one in others)
    listed = _names_in_lists(openings)
    # The first name may be a long text: it is looked at once.
    are_labels, are_lower = _is_label(first), _is_lower(first)
    speakers = {
        _lower_name(one.name)
        for one in others
        if _is_speaker(one.name, counts, labels=are_labels, lower=are_lower)
    }
    return frozenset(known | speakers - listed)


def is_one_of(name: str, speakers: Iterable[str]) -> bool:
    """Whether a name is one of the speakers that `speakers_among` gives."""
    return _lower_name(name) in speakers


def _names_in_lists(openings: Sequence[NameBeforeColon]) -> set[str]:
    """The names of a list of amounts: each occurs once, in rows next to each other that answer no question.

    None where fewer than two other names recur: of a short chat each line may be a turn.
    """
    counts = Counter(_lower_name(one.name) for one in openings)
    if sum(count > 1 for count in counts.values()) < _FEWEST_RECURRING:
        return set()
    lists: list[list[NameBeforeColon]] = []
    for one in openings:
        if one.is_stamped or counts[_lower_name(one.name)] > 1 or not _AMOUNT.fullmatch(one.text.rstrip()):
            continue
        if lists and lists[-1][-1].line == one.line - 1:
            lists[-1].append(one)
        else:
            lists.append([one])
    return {
        _lower_name(one.name)
        for rows in lists
        if len(rows) >= _FEWEST_ROWS and not rows[0].above.rstrip().endswith(("?", "？", "؟"))
        for one in rows
    }


def _lower_name(name: str) -> str:
    return " ".join(name.split()).lower()


def _is_speaker(name: str, counts: Counter[str], *, labels: bool, lower: bool) -> bool:
    """Whether a name is a speaker's in a file whose first name is a label, or in lower case."""
    folded, recurs = _lower_name(name), counts[_lower_name(name)] > 1
    if folded in _ROLES:
        return True
    if _is_label(name):
        return recurs and labels
    return recurs or (folded not in RARE_NAMES and _is_short_name(name, lower=lower))


def _is_label(name: str) -> bool:
    folded = _lower_name(name)
    kind = _NUMBER.sub("", folded)
    is_numbered = kind != folded and kind in RARE_NAMES
    is_error = name.endswith(_ERROR_TYPES)
    return (
        is_numbered or is_error or folded in LABELS or kind in LABELS or (folded in _KEYS and name == folded)
    )


def _is_short_name(name: str, *, lower: bool) -> bool:
    """Whether a name that occurs once may be one; `lower` where the file writes names in lower case."""
    parts = name.split()
    if _is_lower(name):
        return lower and len(parts) <= _LONGEST_LOWER
    named = [part for part in parts if part not in _PARTICLES]
    return len(parts) <= _LONGEST_SINGLE and not any(part[0].islower() for part in named)


def _is_lower(name: str) -> bool:
    return name[0].islower()
