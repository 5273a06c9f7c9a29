"""All planted bugs, room by room."""

from tests.planted.bugs import reading

BUGS = (*reading.BUGS,)
