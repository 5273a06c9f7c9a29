"""Bugs of the kinds people ship, planted one at a time in a copy of the code; the tests must find each.

`bugs/` holds them by room, `bug.py` says how one names its place in the code, `planting.py` plants one and
runs the tests that should find it. The row `mutants` of the torture run goes through all of them.
"""
