"""Turning text into vectors: one file a provider (onnx, ollama, openai, hashing), each with `create_provider`.

base.py says what a provider is, windows.py cuts long text, manifest.py finds and checks the models that come along.
"""
