"""Each vendor's account of tokens and word for an end, read the same way."""

from types import SimpleNamespace

import pytest

from llmeval_integrations.llm.reply import Usage
from llmeval_integrations.llm.sdks.dialects import finish_of, usage_of

ACCOUNTS = {
    "nothing": (None, Usage()),
    "OpenAI, chat completions": (
        {
            "prompt_tokens": 11,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        Usage(11, 9, 3, 2),
    ),
    "OpenAI, responses": (
        {
            "input_tokens": 11,
            "output_tokens": 9,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens_details": {"reasoning_tokens": 2},
        },
        Usage(11, 9, 3, 2),
    ),
    "Anthropic counts its cache apart": (
        {
            "input_tokens": 11,
            "output_tokens": 9,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 1,
        },
        Usage(15, 9, 3, 0, 1),
    ),
    "Bedrock counts its cache apart": (
        {"inputTokens": 11, "outputTokens": 9, "cacheReadInputTokens": 3},
        Usage(14, 9, 3),
    ),
    "LiteLLM has added Anthropic's up": (
        {
            "prompt_tokens": 15,
            "completion_tokens": 9,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 1,
        },
        Usage(15, 9, 3, 0, 1),
    ),
    "Google counts its thinking apart": (
        {
            "prompt_token_count": 11,
            "candidates_token_count": 7,
            "thoughts_token_count": 2,
            "cached_content_token_count": 3,
            "tool_use_prompt_token_count": 1,
        },
        Usage(12, 9, 3, 2),
    ),
    "Ollama": ({"prompt_eval_count": 11, "eval_count": 9}, Usage(11, 9)),
    "a server that leaves out a part": ({"prompt_tokens": 11, "total_tokens": None}, Usage(11)),
    "no numbers": ({"prompt_tokens": "many", "completion_tokens": None}, Usage()),
}

ENDS = {
    "stop": "stop STOP end_turn stop_sequence tool_calls tool_use COMPLETE FinishReason.STOP",
    "length": "length max_tokens MAX_TOKENS FinishReason.MAX_TOKENS incomplete model_length",
    "refused": "content_filter refusal SAFETY RECITATION guardrail_intervened ERROR_TOXIC",
    "failed": "error ERROR abort network_error insufficient_system_resource cancelled "
    "FinishReason.MALFORMED_FUNCTION_CALL",
    "other": "pause_turn something_new",
}


@pytest.mark.parametrize("vendor", ACCOUNTS)
def test_an_account_is_read_as_a_mapping_and_as_an_object(vendor):
    account, usage = ACCOUNTS[vendor]
    assert usage_of(account) == usage
    assert usage_of(SimpleNamespace(**(account or {}))) == usage


@pytest.mark.parametrize("finish", ENDS)
def test_a_word_for_an_end_in_any_case(finish):
    for word in ENDS[finish].split():
        assert finish_of(word) == finish, word
        assert finish_of(SimpleNamespace(value=word)) == finish, word


def test_a_vendor_that_says_nothing_has_ended_by_itself():
    assert {finish_of(None), finish_of("")} == {"stop"}
