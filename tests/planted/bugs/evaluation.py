"""Bugs of `eval`: figures that would be wrong."""

from tests.planted.bug import Bug

_ALL = ("tests/eval",)

BUGS = (
    Bug(
        name="silence matches every answer",
        file="eval/metrics/qa.py",
        before="return one == other if not one or not other else one in other or other in one",
        after="return one in other or other in one",
        found_by=("tests/eval/test_qa_metrics.py", *_ALL),
    ),
    Bug(
        name="shared words count once a side",
        file="eval/metrics/qa.py",
        before="shared = (Counter(answer) & Counter(gold)).total()",
        after="shared = sum(word in gold for word in answer)",
        found_by=("tests/eval/test_qa_metrics.py", *_ALL),
    ),
    Bug(
        name="NDCG is ideal for one document",
        file="eval/metrics/retrieval.py",
        before="ideal = _dcg([1.0] * min(k, sum(document in targets for document in corpus)))",
        after="ideal = _dcg([1.0] * min(k, 1))",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="the discount of NDCG begins at the second rank",
        file="eval/metrics/retrieval.py",
        before="enumerate(relevances[1:], start=2)",
        after="enumerate(relevances[1:], start=3)",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="a question left without a target scores nothing",
        file="eval/metrics/retrieval.py",
        before="recall_all=float(len(found) == len(targets)),",
        after="recall_all=float(bool(found) and len(found) == len(targets)),",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="one document more than the cutoff",
        file="eval/metrics/retrieval.py",
        before="    top = ranking[:k]\n",
        after="    top = ranking[: k + 1]\n",
        found_by=("tests/eval/test_retrieval_metrics.py", *_ALL),
    ),
    Bug(
        name="undecided verdicts count as wrong",
        file="eval/metrics/routing.py",
        before="decided = [(mine, other) for mine, other in pairs if mine is not None and other is not None]",
        after="decided = [(bool(mine), bool(other)) for mine, other in pairs]",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
    Bug(
        name="hard questions are those both get wrong",
        file="eval/metrics/routing.py",
        before="hard = {q for q in decided if summary[q] is False and raw[q] is True}",
        after="hard = {q for q in decided if summary[q] is False}",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
    Bug(
        name="escalated in vain counts as a false hit",
        file="eval/metrics/routing.py",
        before='    if escalated:\n        return "still wrong"\n',
        after="",
        found_by=("tests/eval/test_routing_metrics.py", *_ALL),
    ),
)
