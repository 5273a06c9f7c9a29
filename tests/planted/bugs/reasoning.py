"""Bugs of `tiermem/reasoning`: what models and rules are asked, and how their replies are read."""

from tests.planted.bug import Bug

_ALL = ("tests/reasoning",)

BUGS = (
    Bug(
        name="the number after the last shown one counts",
        file="tiermem/reasoning/model/asking.py",
        function="shown_numbers",
        before="0 <= number < count",
        after="0 <= number <= count",
        found_by=_ALL,
    ),
    Bug(
        name="numbers from the end count",
        file="tiermem/reasoning/model/asking.py",
        function="shown_numbers",
        before="0 <= number < count",
        after="number < count",
        found_by=_ALL,
    ),
    Bug(
        name="an abstention that says nothing of being complete is complete",
        file="tiermem/reasoning/model/compose.py",
        function="_draft",
        before="not reply.abstained",
        after="True",
        found_by=_ALL,
    ),
    Bug(
        name="an answer may have no words",
        file="tiermem/reasoning/model/compose.py",
        function="ComposeReply._an_answer_has_words",
        before="self.answer.strip()",
        after="self.answer",
        found_by=_ALL,
    ),
    Bug(
        name="without evidence the model is asked",
        file="tiermem/reasoning/model/compose.py",
        function="ComposeByModel.__call__",
        before="not evidence",
        after="evidence is None",
        found_by=_ALL,
    ),
    Bug(
        name="a bare quote is read letter by letter",
        file="tiermem/reasoning/model/fields.py",
        function="_as_list",
        before="[value]",
        after="list(value)",
        found_by=_ALL,
    ),
    Bug(
        name="true is an importance of one",
        file="tiermem/reasoning/model/fields.py",
        function="_share_or_unknown",
        before="isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1",
        after="isinstance(value, (int, float)) and 0 <= value <= 1",
        found_by=_ALL,
    ),
    Bug(
        name="the 31st of February is a date",
        file="tiermem/reasoning/model/fields.py",
        function="_date_or_unknown",
        before="""
            try:
                date(*(int(part) for part in (*parts, "1", "1")[:3]))
            except ValueError:
                return None
        """,
        after="""
            try:
                date(*(int(part) for part in (*parts, "1", "1")[:3]))
            except ValueError:
                pass
        """,
        found_by=_ALL,
    ),
    Bug(
        name="an empty quote is a quote",
        file="tiermem/reasoning/model/fields.py",
        function="quotes_of",
        before="(quote.strip() for quote in quotes if quote.strip())",
        after="(quote.strip() for quote in quotes)",
        found_by=_ALL,
    ),
    Bug(
        name="a reply of the wrong types is bent to fit",
        file="tiermem/reasoning/model/fields.py",
        function="CheckedReply",
        before='ConfigDict(strict=True, frozen=True, extra="ignore")',
        after='ConfigDict(strict=False, frozen=True, extra="ignore")',
        found_by=_ALL,
    ),
    Bug(
        name="a router's reply that cannot be read answers",
        file="tiermem/reasoning/model/route.py",
        function="RouteByModel.__call__",
        before='_escalate(f"the reply could not be used: {error}")',
        after='Decision(action="ANSWER", score=None, reason=str(error), router=_ROUTER)',
        found_by=_ALL,
    ),
    Bug(
        name="R answers and S escalates",
        file="tiermem/reasoning/model/route.py",
        function="_decision",
        before='"ANSWER" if reply.action == "S" else "ESCALATE"',
        after='"ESCALATE" if reply.action == "S" else "ANSWER"',
        found_by=_ALL,
    ),
    Bug(
        name="a look-up made before is made again in other capitals",
        file="tiermem/reasoning/model/plan.py",
        function="_same",
        before="search.query.casefold()",
        after="search.query",
        found_by=_ALL,
    ),
    Bug(
        name="one reply may ask for the same look-up twice",
        file="tiermem/reasoning/model/plan.py",
        function="_new_searches",
        before="seen.add(_same(search))",
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="searches of a planner that is done are made",
        file="tiermem/reasoning/model/plan.py",
        function="PlanByModel.__call__",
        before='reply.decision == "DONE"',
        after='reply.decision == "DONE" and not reply.search_commands',
        found_by=_ALL,
    ),
    Bug(
        name="a fact is merged into what it contradicts",
        file="tiermem/reasoning/model/reconcile.py",
        function="_operation",
        before="""
            case "UPDATE" if contradicted:
                return Operation(op="ADD", reason=reason, supersedes=contradicted)
        """,
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="a merge into the unit before the one named",
        file="tiermem/reasoning/model/reconcile.py",
        function="_operation",
        before="neighbours[reply.target]",
        after="neighbours[reply.target - 1]",
        found_by=_ALL,
    ),
    Bug(
        name="an operation nobody knows adds",
        file="tiermem/reasoning/model/reconcile.py",
        function="_operation",
        before='Operation(op="SKIP", reason=f"unknown operation {reply.operation[:40]!r}")',
        after='Operation(op="ADD", reason=f"unknown operation {reply.operation[:40]!r}")',
        found_by=_ALL,
    ),
    Bug(
        name="words of an entry can pass for the next entry",
        file="tiermem/reasoning/model/prompt_text.py",
        function="_indent",
        before=r'"\n  ".join(text.splitlines())',
        after="text",
        found_by=("tests/reasoning", "tests/llm"),
    ),
    Bug(
        name="only line feeds end a line",
        file="tiermem/reasoning/model/prompt_text.py",
        function="_indent",
        before=r'"\n  ".join(text.splitlines())',
        after=r'text.replace("\n", "\n  ")',
        found_by=("tests/reasoning", "tests/llm"),
    ),
    Bug(
        name="a model is shown no quotes beside claims",
        file="tiermem/reasoning/model/prompt_text.py",
        function="_piece",
        before="_with_words(text, [piece.quote]) if piece.quote else text",
        after="text",
        found_by=("tests/reasoning", "tests/llm"),
    ),
    Bug(
        name="rules answer about somebody else",
        file="tiermem/reasoning/rules/sufficiency.py",
        function="_refusal",
        before="""
            if not seen.right_person:
                return "the best unit is about somebody else"
        """,
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="one name of several is enough",
        file="tiermem/reasoning/rules/sufficiency.py",
        function="_names_held",
        before="all(name in there for name in question.names)",
        after="any(name in there for name in question.names) or not question.names",
        found_by=_ALL,
    ),
    Bug(
        name="a list needs no more than a fact",
        file="tiermem/reasoning/rules/sufficiency.py",
        function="_too_little",
        before="_COMPLETE if seen.kind in _MANY else _COVERAGE",
        after="_COVERAGE",
        found_by=_ALL,
    ),
    Bug(
        name="the distance of the nearest unit does not count",
        file="tiermem/reasoning/rules/sufficiency.py",
        function="_refusal",
        before="_SIMILARITY",
        after="0",
        found_by=_ALL,
    ),
)
