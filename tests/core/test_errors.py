"""The error tree: one root, and the builtin that each of them also is."""

import inspect
import pickle

import pytest

from llmeval_integrations.core import errors

TREE = {
    "InvalidOptionError": ValueError,
    "MissingFieldError": ValueError,
    "InvalidReferenceError": ValueError,
    "InvalidSchemaError": ValueError,
    "RegexTimeoutError": ValueError,
    "UnknownNameError": LookupError,
    "InputError": ValueError,
    "JudgeError": RuntimeError,
    "ClientError": RuntimeError,
    "CutReplyError": RuntimeError,
    "RefusedReplyError": RuntimeError,
    "UnreadableJudgementError": ValueError,
    "MissingDependencyError": ImportError,
}
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and name not in ("EvalError", "Any")
}


def test_the_tree_is_drawn_in_the_docstring():
    assert CLASSES.keys() == TREE.keys()
    for name, kind in TREE.items():
        drawn = errors.__doc__[errors.__doc__.index(f"── {name}") :]
        inherited = issubclass(CLASSES[name].__base__, kind)
        assert inherited or kind.__name__ in drawn[:200]


@pytest.mark.parametrize("name", TREE)
def test_every_error_is_ours_and_a_builtin_and_survives_pickling(name):
    error = CLASSES[name]("what is wrong")
    assert isinstance(error, errors.EvalError)
    assert isinstance(error, TREE[name])
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(twin), str(twin)) == (type(error), str(error))


def test_a_missing_package_is_worded_in_one_way():
    error = errors.MissingDependencyError.of("openai", "openai")
    assert str(error) == "openai is not installed; run: pip install 'llmeval-integrations[openai]'"
