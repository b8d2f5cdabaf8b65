"""Anthropic's Messages as Vertex AI carries them: `rawPredict` and `streamRawPredict`."""

NAME = "vertex_messages"
