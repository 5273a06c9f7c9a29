"""What goes over HTTP between a memory and its client: operations, values, errors. Both ends read it here."""

from tiermem.wire.arguments import given_as_json, taken_from_json
from tiermem.wire.events import Tell, Telling, telling
from tiermem.wire.operations import Right, WireOperation, operations, summary
from tiermem.wire.problems import Problem, error_of, problem_of
from tiermem.wire.values import as_json, plain, read_as
