"""Write what bfcl-eval's checker says about the calls of tests/bfcl_cases.py.

Run it where bfcl-eval is installed. Its checker needs no more than these:
pip install --no-deps bfcl-eval; pip install tree_sitter==0.21.3 tree-sitter-java==0.21.0
tree-sitter-javascript==0.21.4

The file holds verdicts alone, a letter for each case: 1 valid, 0 not valid, x where the checker
raised an exception, - where the case does not allow for that kind of calls.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))
from bfcl_cases import CATEGORIES, KINDS, made, records  # noqa: E402

MODEL = "none"


def checker() -> tuple[Any, Any]:
    """Import the checker without the table of models, which imports the SDK of every vendor."""
    table = ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = {MODEL: SimpleNamespace(underscore_to_dot=False)}
    sys.modules[table.__name__] = table
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    return ast_checker, Language.PYTHON


def verdict(check: Any, language: Any, category: str, record: dict[str, Any], kind: str) -> str:
    """Ask about one case."""
    calls = made(record, kind)
    if calls is None:
        return "-"
    theirs = [{call["name"]: call["arguments"]} for call in calls]
    answers = record["possible_answers"]
    try:
        found = check(record["functions"], theirs, answers, language, category, MODEL)
    except Exception:  # noqa: BLE001 - whatever it raises is its answer
        return "x"
    return "1" if found["valid"] else "0"


def main() -> None:
    """Ask about all cases and write the file."""
    check, language = checker()
    verdicts = {
        kind: {
            category: "".join(
                verdict(check, language, category, record, kind) for record in records(category)
            )
            for category in CATEGORIES
        }
        for kind in KINDS
    }
    content = {"bfcl-eval": version("bfcl-eval"), "verdicts": verdicts}
    text = json.dumps(content, indent=1) + "\n"
    (TESTS / "bfcl_verdicts.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
