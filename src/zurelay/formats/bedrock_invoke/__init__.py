"""Anthropic's Messages as Amazon Bedrock carries it: InvokeModel."""

NAME = "bedrock_invoke"
