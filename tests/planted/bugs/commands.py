"""Bugs of `tiermem/apps/cli`: the command line."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="the beginning of two ids names the first",
        file="tiermem/apps/cli/options.py",
        function="_begun",
        before="len(begins) == 1",
        after="begins",
        found_by=(
            "tests/apps/test_commands.py::test_pages_are_listed_and_printed_by_the_beginning_of_their_id",
        ),
    ),
    Bug(
        name="what was found is printed with its control characters",
        file="tiermem/apps/cli/search.py",
        function="_evidence_text",
        before="Text(show_controls(item.text))",
        after="Text(item.text)",
        found_by=("tests/apps/test_terminal.py",),
    ),
    Bug(
        name="turns that raise trust are counted of the last session alone",
        file="tiermem/apps/cli/ingest.py",
        function="_drop_raising_stamps.drop_raising",
        before="raising += sum(before.trust in levels.names and after.trust is None for before, after in zip(session.turns, turns, strict=True))",
        after="raising = sum(before.trust in levels.names and after.trust is None for before, after in zip(session.turns, turns, strict=True))",
        found_by=(
            "tests/apps/test_copies.py::test_turns_of_every_session_that_name_a_higher_trust_are_counted",
        ),
    ),
    Bug(
        name="a key without checkpoints is ignored",
        file="tiermem/apps/cli/verify.py",
        function="_trusted_checkpoints",
        before="""
            if public_key is not None:
                raise InvalidInput("a key checks the signatures of checkpoints: name their file")
        """,
        after="",
        found_by=("tests/apps/test_proofs.py",),
    ),
    Bug(
        name="a turn is trusted more than the file it comes from",
        file="tiermem/apps/cli/ingest.py",
        function="_drop_raising_stamps.drop_raising",
        before="lower_stamps(session.turns, trust, levels, role=role)",
        after="lower_stamps(session.turns, None, levels, role=role)",
        found_by=("tests/apps/test_copies.py",),
    ),
    Bug(
        name="an outcome of units does not name who judged",
        file="tiermem/apps/cli/feedback.py",
        function="feedback",
        before="memory.feedback(answer_id, sources=named, outcome=outcome, output=made, by=by)",
        after="memory.feedback(answer_id, sources=named, outcome=outcome, output=made)",
        found_by=("tests/apps/test_commands.py::test_an_outcome_of_units_names_who_judged",),
    ),
)
