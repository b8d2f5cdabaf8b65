"""OpenAI's Responses format, spoken upstream."""

ORIGIN = "responses"
"""What encrypted thinking of this format came in; with the realm it is its origin."""
