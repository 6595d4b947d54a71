"""TRL: two steps of GRPO on the CPU, with a model and a tokenizer made here."""

import json

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import JsonEquality, LengthPenalty, RegexMatch, Sample, ToolCalls
from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.frameworks import trl as ours
from llmeval_integrations.frameworks.trl import TrlReward
from llmeval_integrations.messages.read import read_answer

WORDS = ["<pad>", "<eos>", "[", "]", "1", "2", ",", " ", "{", "}", "u", "a", "<|", "|>"]
CHAT = "{% for m in messages %}<|{{ m.role[0] }}|>{{ m.content }}{% endfor %}<|a|>"


def message(content, role="assistant", **more):
    return [{"role": role, "content": content, **more}]


def test_a_completion_is_a_text_or_messages_with_calls():
    fixed = Fixed(RESULTS["yes"])
    blocks = [{"type": "image", "text": None}, {"type": "text", "text": "a"}]
    said = ["[1]", message("[1]"), message(blocks), message(None, tool_calls=[]), []]
    TrlReward(fixed)([message("go", "user")] * 5, said)
    assert [read_answer(one.output).value for one in fixed.samples] == ["[1]", "[1]", "a", "", ""]

    gold = [{"name": "add", "arguments": {"a": 1}}]
    called = message("so", tool_calls=[{"type": "function", "function": gold[0]}])
    answered = called + message("2", "tool") + message("It is 2.")
    given = [called, answered, json.dumps(gold), message("no")]
    reward = TrlReward(ToolCalls(), reference="calls")
    assert reward(["?"] * 4, given, calls=[gold] * 4) == [1.0, 1.0, 1.0, 0.0]


def test_columns_are_fields_and_what_is_unscored_or_lacks_a_field_has_no_reward():
    fixed, logged = Fixed(RESULTS["unscored"]), {}
    system = message("Be brief.", "system") + message("go", "user")
    cells = {"gold": ["1", None], "documents": ["one", None]}
    arguments = {"completion_ids": [[1], [2]], "trainer_state": object(), **cells}
    log = {"log_extra": logged.__setitem__, "log_metric": logged.__setitem__}
    reward = TrlReward(fixed, reference="gold", contexts="documents")
    assert reward(["go", system], ["1", "2"], **arguments, **log) == [None, None]
    assert fixed.samples == [
        Sample("1", "1", "go", ["one"], variables={"gold": "1", "documents": "one"}),
        Sample("2", input=system, variables=dict.fromkeys(cells)),
    ]
    assert logged == {"fixed/unscored": 1.0, "fixed_reason": ["cannot tell"] * 2}
    with pytest.raises(MissingFieldError, match=r"the columns are \['solution'\]"):
        TrlReward(JsonEquality(), reference="gold")(["?"], ["1"], solution=["1"])
    assert TrlReward(LengthPenalty(), unscored=-2.0)(["?"] * 2, ["", "ten letters"]) == [-2.0, 0.0]
    slow = RegexMatch(r"(a|a\b|aa)+$", timeout=0.01)
    assert TrlReward(slow)(["?"] * 2, ["a" * 60 + "!", "aa"]) == [None, 1.0]
    reward = TrlReward(JsonEquality(), missing="unscored", unscored=-2.0)
    assert reward(["?"] * 3, ["1", "1", "2"], reference=[None, "1", "1"]) == [None, 1.0, 0.0]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_model_of_two_thousand_weights_is_trained(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    pytest.importorskip("trl")
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate(WORDS)}
    letters = Tokenizer(models.WordLevel(words, "<pad>"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    letters.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=letters, chat_template=CHAT)
    tokenizer.add_special_tokens({"pad_token": "<pad>", "eos_token": "<eos>"})
    torch.manual_seed(0)
    sizes = {"vocab_size": len(WORDS), "hidden_size": 16, "intermediate_size": 16}
    layers = {"num_hidden_layers": 1, "num_attention_heads": 2}
    tokens = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    batch = {"max_steps": 2, "per_device_train_batch_size": 4, "num_generations": 2}
    machine = {"max_completion_length": 4, "use_cpu": True, "bf16": False}
    report = {"report_to": "none", "logging_steps": 1, "save_strategy": "no", "disable_tqdm": True}
    options = {"output_dir": str(tmp_path), **batch, **machine, **report}
    model = LlamaForCausalLM(LlamaConfig(**sizes, **layers, **tokens))
    data = Dataset.from_dict({"prompt": ["1", "2"], "solution": ["[1]", "[2]"]})
    names = run_example(ours, model=model, tokenizer=tokenizer, options=options, dataset=data)
    first = names["trainer"].state.log_history[0]
    assert {"rewards/json_equality/mean", "rewards/length_penalty/mean"} <= set(first)
    assert names["trainer"].reward_funcs[1].evaluator == LengthPenalty(max_length=80)
