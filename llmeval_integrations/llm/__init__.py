"""How a question reaches a model through any SDK: requests, replies, retries, cache, limits."""
