"""Google's generateContent format, spoken upstream by the Gemini API and by Vertex AI."""

ORIGIN = "gemini"
"""What thought signatures of this format came in; with the realm it is their origin."""
