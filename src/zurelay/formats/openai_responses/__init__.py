"""OpenAI's Responses format, spoken by callers and upstreams."""

ORIGIN = "responses"
"""What encrypted thinking of this format came in; with the realm it is its origin."""
