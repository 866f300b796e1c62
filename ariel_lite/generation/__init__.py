"""Language models: one file a provider (openai, ollama), and what builds and checks answers from entries."""
