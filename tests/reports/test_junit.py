"""JUnit XML for continuous integration: every row is a case."""

import io
from xml.etree import ElementTree

from llmeval_integrations.reports import junit


def written(*runs):
    out = io.BytesIO()
    junit.write(runs, out)
    return ElementTree.fromstring(out.getvalue())


def test_failures_errors_and_skips_are_told_apart(moods):
    suite = written(moods).find("testsuite")
    counts = [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")]
    assert counts == ["moody", "4", "1", "1", "1"]
    kinds = {case.get("name"): [(part.tag, part.get("type"), part.get("message")) for part in case] for case in suite}  # fmt: skip
    assert kinds == {
        "good": [],
        "bad": [("failure", "failure", "score 3: as it says")],
        "raise": [("error", "InputError", "the output asked for it")],
        "unscored": [("skipped", None, "nobody can tell")],
    }


def test_several_runs_have_suites_of_their_own_and_one_that_was_interrupted_an_error(interrupted, people):  # fmt: skip
    told, *suites = written(interrupted, people)
    assert (told.get("name"), told.get("tests"), told.get("errors")) == ("cut", "1", "1")
    assert told.find("testcase/error").get("message") == "it was interrupted"
    assert [suite.get("name") for suite in suites] == [
        "cut.moody",
        "people.json_validity",
        "people.json_match",
        "people.json_fields",
    ]


def test_a_hostile_text_is_only_text(hostile):
    tags = {element.tag for element in written(hostile).iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure"}
