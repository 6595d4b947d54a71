"""How a question reaches a model, whichever the SDK: requests, replies, retries, cache, limits."""
