"""The error tree: one root, and the builtin that each of them also is."""

import pickle

from llmeval_integrations.core import errors

TREE = {
    ValueError: "InvalidOption MissingField InvalidReference InvalidSchema RegexTimeout Input",
    LookupError: "UnknownName",
    RuntimeError: "Judge Client CutReply RefusedReply RejectedAnswer",
    ImportError: "MissingDependency",
}


def test_every_error_is_ours_and_a_builtin_and_survives_pickling():
    kinds = {f"{name}Error": kind for kind, names in TREE.items() for name in names.split()}
    kinds["UnreadableJudgementError"] = ValueError
    classes = {
        name: one for name, one in vars(errors).items() if str(one).startswith("<class 'llmeval")
    }
    assert classes.keys() - {"EvalError"} == kinds.keys()
    for name, kind in kinds.items():
        error = classes[name]("what is wrong")
        assert isinstance(error, errors.EvalError)
        assert isinstance(error, kind)
        twin = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(twin), str(twin)) == (type(error), str(error))


def test_a_missing_package_is_worded_in_one_way():
    error = errors.MissingDependencyError.of("openai", "openai")
    assert str(error) == "openai is not installed; run: pip install 'llmeval-integrations[openai]'"
