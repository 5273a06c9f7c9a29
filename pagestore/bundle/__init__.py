"""Audit bundles: a file that proves an answer's words to somebody with neither the log nor trust in it."""

from pagestore.bundle.build import make_bundle
from pagestore.bundle.check import verify_bundle, verify_growth
from pagestore.bundle.layout import Malformed, decode, encode
from pagestore.bundle.values import Bundle, BundleReport, Signature

__all__ = [
    "Bundle",
    "BundleReport",
    "Malformed",
    "Signature",
    "decode",
    "encode",
    "make_bundle",
    "verify_bundle",
    "verify_growth",
]
