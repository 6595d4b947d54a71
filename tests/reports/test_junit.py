"""JUnit XML for continuous integration: every row is a case."""

import io
from xml.etree import ElementTree

from llmeval_integrations.reports import junit


def written(*runs):
    out = io.BytesIO()
    junit.write(runs, out)
    return ElementTree.fromstring(out.getvalue())


def test_each_evaluator_is_a_suite_and_each_row_a_case(people):
    suites = written(people).findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["json_validity", "json_match", "json_fields"]
    assert [suite.get("failures") for suite in suites] == ["1", "2", "2"]
    assert [case.get("name") for case in suites[0]] == ["right", "old", "cut"]


def test_failures_errors_and_skips_are_told_apart(moods):
    suite = written(moods).find("testsuite")
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "1", "1", "1"]
    kinds = {case.get("name"): [(part.tag, part.get("type"), part.get("message")) for part in case] for case in suite}  # fmt: skip
    assert kinds == {
        "good": [],
        "bad": [("failure", "failure", "score 3: as it says")],
        "raise": [("error", "InputError", "row 3: the output asked for it")],
        "unscored": [("skipped", None, "nobody can tell")],
    }


def test_several_runs_have_suites_of_their_own(moods, people):
    names = [suite.get("name") for suite in written(moods, people)]
    assert names == [
        "moods.moody",
        "people.json_validity",
        "people.json_match",
        "people.json_fields",
    ]


def test_a_run_that_was_interrupted_is_an_error_more(interrupted):
    told, suite = written(interrupted).findall("testsuite")
    assert (told.get("name"), told.get("tests"), told.get("errors")) == ("cut", "1", "1")
    assert told.find("testcase/error").get("message") == "it was interrupted"
    assert (suite.get("name"), suite.get("tests")) == ("moody", "2")


def test_a_hostile_text_is_only_text(hostile):
    root = written(hostile)
    assert {element.tag for element in root.iter()} == {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
    }
