"""HTM and its decision record ADR-007 again: the cases they print, by the algorithm they print."""
