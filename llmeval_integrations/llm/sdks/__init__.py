"""What the clients of SDKs share: what errors mean, dialects, schemas, keys."""
