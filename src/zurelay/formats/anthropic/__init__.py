"""Anthropic's Messages format, spoken by callers and upstreams."""

NAME = "anthropic"

ORIGIN = "messages"
"""What signed thinking of this format came in; with the realm it is its origin."""

VERSION = "2023-06-01"
"""The `anthropic-version` under which everything that any model takes is legal."""
