"""Faults on purpose: a disk that loses power, fails to sync or fills up, and logs with seeded bugs.

The rule: the harness is only worth what it catches. Every seeded bug ("mutant") must be found, and the
log as it is must show no violation.
"""
