"""Bugs of `eval`: figures that would be wrong."""

from tests.planted.bug import Bug

_ALL = ("tests/eval",)

BUGS = (
    Bug(
        name="silence matches every answer",
        file="eval/metrics/qa.py",
        function="_contains",
        before="one == other if not one or not other else one in other or other in one",
        after="one in other or other in one",
        found_by=("tests/eval/test_qa_metrics.py", *_ALL),
    ),
    Bug(
        name="shared words count once a side",
        file="eval/metrics/qa.py",
        function="_f1",
        before="(Counter(answer) & Counter(gold)).total()",
        after="sum(word in gold for word in answer)",
        found_by=("tests/eval/test_qa_metrics.py", *_ALL),
    ),
    Bug(
        name="NDCG is ideal for one document",
        file="eval/metrics/retrieval.py",
        function="score",
        before="sum(document in targets for document in corpus)",
        after="1",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="the discount of NDCG begins at the second rank",
        file="eval/metrics/retrieval.py",
        function="_dcg",
        before="enumerate(relevances[1:], start=2)",
        after="enumerate(relevances[1:], start=3)",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="a question left without a target scores nothing",
        file="eval/metrics/retrieval.py",
        function="score",
        before="len(found) == len(targets)",
        after="bool(found) and len(found) == len(targets)",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="one document more than the cutoff",
        file="eval/metrics/retrieval.py",
        function="score",
        before="ranking[:k]",
        after="ranking[: k + 1]",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="undecided verdicts count as wrong",
        file="eval/metrics/routing.py",
        function="_decided",
        before="[(mine, other) for mine, other in pairs if mine is not None and other is not None]",
        after="[(bool(mine), bool(other)) for mine, other in pairs]",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
    Bug(
        name="hard questions are those both get wrong",
        file="eval/metrics/routing.py",
        function="escalation",
        before="summary[q] is False and raw[q] is True",
        after="summary[q] is False",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
    Bug(
        name="escalated in vain counts as a false hit",
        file="eval/metrics/routing.py",
        function="_outcome",
        before="""
            if escalated:
                return "still wrong"
        """,
        after="",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
    Bug(
        name="what moved back one place moves back again",
        file="eval/research/feedback/halves.py",
        function="order_by_signals",
        before="""
            order[at - 1], order[at] = this, before
            at += 1
        """,
        after="order[at - 1], order[at] = this, before",
        found_by=("tests/eval/research/test_feedback.py",),
    ),
)
