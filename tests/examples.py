"""One evaluator for each name in the catalog, with the fewest options."""

from scripted import Scripted, judgement

from llmeval_integrations import Sample, list_evaluators, load_evaluator
from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.judges.evaluator import JudgedEvaluator

JUDGED = [name for name in list_evaluators() if issubclass(evaluator_class(name), JudgedEvaluator)]
"""The names of those that ask a model."""

DETERMINISTIC = [name for name in list_evaluators() if name not in JUDGED]
"""The names of those that do not."""

SAMPLE = Sample("[1]", "[1]", "Write a list.", ["A list has brackets."], relevant=[1])
"""What every one of them can look at."""


def count_letters(texts):
    """Embed texts by how long they are."""
    return [[1.0, len(text)] for text in texts]


def example(name):
    """Build the evaluator of this name; the model of a judge says that the output passes."""
    options = {
        "python_type": {"expected_type": "dict|list"},
        "classification": {"name": "mood", "prompt": "{output}", "choices": ["Pass", "Fail"]},
        "embedding_distance": {"embeddings": count_letters},
        "judge": {"prompt": "{output}"},
        "judged_fields": {"judged": ["/0"]},
        "panel": {"judges": [load_evaluator("safety", model=Scripted(judgement()))]},
        "pass_fail": {"question": "Is it a list?"},
        "questionnaire": {"questions": ["Is it a list?"]},
        "tool_call_schema": {"tools": []},
        "weighted_sum": {"parts": {load_evaluator("json_validity"): 1}},
        "vote": {"of": load_evaluator("safety", model=Scripted(judgement()))},
    }.get(name, {})
    if name in JUDGED and name not in ("panel", "vote"):
        options["model"] = Scripted("Pass" if name == "classification" else judgement())
    return load_evaluator(name, **options)
