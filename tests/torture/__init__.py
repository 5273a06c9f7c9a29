"""Every promise of the failure table shown by a harness with its figure: `make torture`.

A row is one failure with what was done about it, in shares that can run side by side. The rules: a share
is reproduced by the run's seed and its place in the row; a row counts what it really did; what broke a
promise is a violation, and so is whatever a harness did not expect.
"""
