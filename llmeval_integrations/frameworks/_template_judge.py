"""The judge for evaluators of LangChain and LlamaIndex whose template can be replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import to_text
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.judges.evaluator import ModelJudge
from llmeval_integrations.judges.forms import Form
from llmeval_integrations.judges.material import material
from llmeval_integrations.judges.prompt import Prompt
from llmeval_integrations.judges.reader import parse_judgement

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask

_LONG: Final = {"Y": "YES", "N": "NO"}


@dataclass(frozen=True)
class TemplateJudge(ModelJudge):
    """Which word, or which number on a scale, does a model answer to a template?

    Score: the value of the word in `words`, or the number. Label: the word. Reason: the reply. If
    the reply has no clear word or number, there is no score.
    """

    model: Any
    prompt: Any
    words: Mapping[str, float] | None = None
    scale: tuple[float, float] | None = None
    threshold: float | None = None
    """The lowest score that passes; without it there is no verdict."""
    keeps_reply: bool = True
    """Whether the reason is the whole reply, or the reply without its verdict."""

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        form: Form[str] = Form("str", None, str)
        variables = material(sample)
        variables.setdefault("answer", variables["output"])  # for agents; else it is the reference
        reply = await self.exchange(ask, self.prompt, form, variables)
        shown: Mapping[str, Any] = sample.variables  # with the output, the reference and the input
        texts = [value for value in shown.values() if isinstance(value, str) and value]
        own = reply
        if "[[" in reply:
            for text in texts:
                own = own.replace(text, "...")  # the output may contain such brackets
        found = parse_judgement(
            own,
            words=None if self.words is None else tuple(self.words),
            scale=self.scale,
            ignoring=texts,
            methods=[] if self.words is None else [_read_verdict, self._read_word],
        )
        score = float(found.verdict if self.words is None else self.words[found.verdict])
        passed = None if self.threshold is None else score >= self.threshold
        label = None if self.words is None else found.verdict
        reason = reply.strip() if self.keeps_reply else found.reasoning
        return Result(score, passed, label, reason)

    def _read_word(self, reply: str) -> dict[str, str] | None:
        """Read the first word of "No, the context says otherwise.", or a last line.

        Yes and no may stand for Y and N.
        """
        word, comma, rest = reply.partition(",")
        reasons, _, last = reply.strip().rpartition("\n")
        if reasons.rstrip().endswith((":", "?")):  # the line may be a quotation, or one of several
            last = ""
        for said, reasoning in ((word if comma else "", rest), (last, reasons)):
            verdict = said.strip(" *_.\n").upper()
            for each in self.words or ():
                if verdict in (each, _LONG.get(each)):
                    return {"verdict": each, "reasoning": reasoning.strip()}
        return None


def _read_verdict(reply: str) -> dict[str, str] | None:
    """Read the object that LlamaIndex's guideline templates ask for."""
    found = parse(reply)
    if not (isinstance(found, dict) and isinstance(found.get("passing"), bool)):
        return None
    verdict = "YES" if found["passing"] else "NO"
    return {"verdict": verdict, "reasoning": to_text(found.get("feedback", ""))}


def make_marks(names: Iterable[str]) -> dict[str, str]:
    """Return the values with which a framework writes its template, one for each variable."""
    return {name: f"⟦{name}⟧" for name in names}


def read_marked(messages: Iterable[tuple[str, Any]], marks: Mapping[str, str]) -> Prompt:
    """Return the messages that a framework wrote, role and content, with variables for the marks.

    Raises InvalidOptionError if a mark is not in them, as its variable would never be shown.
    """
    prompt = Prompt(
        [{"role": role, "content": _as_template(content, marks)} for role, content in messages],
        "f-string",
    )
    for name in marks:
        if name not in prompt.variables:
            raise InvalidOptionError(
                f"prompt: the template does not show {name!r} as a text; conditions, loops and "
                "parts of variables are not supported"
            )
    return prompt


def _as_template(content: Any, marks: Mapping[str, str]) -> Any:
    if isinstance(content, list):
        return [
            {**part, "text": _as_template(part["text"], marks)} if "text" in part else part
            for part in content
        ]
    if "{" in content:
        content = content.replace("{", "{{").replace("}", "}}")
    for name, mark in marks.items():
        content = content.replace(mark, f"{{{name}}}")
    return content
