"""Zurelay: a self-hosted gateway for language models."""

__version__ = "0.1.0"
