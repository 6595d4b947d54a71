"""Our evaluators on Ray: a dataset of Ray Data in, a dataset of rows out, or a file on a cluster.

    import ray
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.ray import evaluate_dataset

    data = ray.data.from_items([
        {"id": "a", "output": "[1]", "reference": "[1.0]"},
        {"id": "b", "output": "[1,", "reference": "[1, 2]"},
    ])
    rows = evaluate_dataset(data, [JsonEquality()])
    sorted((row["id"], row["score"]) for row in rows.take_all())  # [('a', 1.0), ('b', 0.0)]
    rows.write_parquet(folder)

A file of JSON Lines becomes the same run directory as on one machine by
`evaluate("data.jsonl", evaluators, out="run", engine=RayEngine)`, or `llmeval run --engine ray`.
"""

from llmeval_integrations.frameworks._base import optional

with optional("ray", "ray", "ray"):
    import ray  # noqa: F401 - not `ray.data`: it takes a second more, and files do without

from llmeval_integrations.frameworks.ray.dataset import evaluate_dataset
from llmeval_integrations.frameworks.ray.engine import RayEngine

__all__ = ["RayEngine", "evaluate_dataset"]
