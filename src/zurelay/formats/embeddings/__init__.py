"""OpenAI's embeddings: texts in, vectors out. A format of its own that is never translated.

Providers that speak Chat Completions have it beside; errors and counts are in the same words.
"""

NAME = "embeddings"
