"""A real inference server from nothing: llama.cpp's own, on a tiny llama with random weights.

    server = serve()
    client = load_client("openai:tiny", base_url=address(server))

It listens after some hundredths of a second on a port of its own, enforces the JSON schema of a
`response_format` by a grammar, and talks nonsense otherwise. It stops when `server` is deleted.
A named `tool_choice` it does not enforce. Needs the packages xllamacpp and gguf. The tests of the
clients use it, and so does the notebook on judges.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

SLOTS = 8
"""How many replies are generated at a time; further requests wait."""

CONTEXT = 4096
"""The tokens that a prompt and its reply have together; most characters are a token each."""

_WIDTH, _HEADS, _LAYERS, _HIDDEN = 32, 4, 2, 64

_SPECIAL = ("<unk>", "<s>", "</s>")
_WORDS = ("the", "answer", "is", "right", "wrong", "because", "it", "says", "yes", "no", "not")
_TEMPLATE = "{% for m in messages %}<{{ m.role }}> {{ m.content }}\n{% endfor %}<assistant> "


def serve() -> Any:
    """Start a server in this process and give it; it runs as long as something holds it."""
    import xllamacpp

    with tempfile.TemporaryDirectory() as folder:
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(write_model(Path(folder) / "tiny.gguf"))
        parameters.model_alias = {"tiny"}
        parameters.port = 0
        parameters.n_parallel = SLOTS
        parameters.n_ctx = CONTEXT * SLOTS
        parameters.kv_unified = False
        parameters.n_threads_http = 64
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        parameters.warmup = parameters.ui = False
        parameters.offline = parameters.use_jinja = True
        parameters.verbosity = -1
        return xllamacpp.Server(parameters)


def address(server: Any) -> str:
    """Give the base address that OpenAI's clients take."""
    return f"{server.listening_address}/v1"


def write_model(path: Path) -> Path:
    """Write a llama with random weights, always the same, as a GGUF file of some 200 kB."""
    import gguf

    tokens, kinds = _vocabulary()
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(CONTEXT)
    file.add_embedding_length(_WIDTH)
    file.add_block_count(_LAYERS)
    file.add_feed_forward_length(_HIDDEN)
    file.add_head_count(_HEADS)
    file.add_head_count_kv(_HEADS)
    file.add_rope_dimension_count(_WIDTH // _HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list(tokens)
    file.add_token_types(kinds)
    # the tokenizer joins what scores best: words before letters, letters before bytes
    file.add_token_scores([float(len(token)) for token in tokens])
    file.add_unk_token_id(0)
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_chat_template(_TEMPLATE)
    for name, weights in _weights(tokens, kinds):
        file.add_tensor(name, weights)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def _vocabulary() -> tuple[list[str], list[int]]:
    """Give the tokens and their kinds: special ones, all bytes, printable characters, words."""
    from gguf import TokenType

    texts = [chr(code) for code in range(0x21, 0x7F)] + ["\u2581", *_WORDS]
    tokens = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *texts]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    kinds += [TokenType.BYTE] * 256 + [TokenType.NORMAL] * len(texts)
    return tokens, [int(kind) for kind in kinds]


def _weights(tokens: list[str], kinds: list[int]) -> list[tuple[str, Any]]:
    """Draw the tensors.

    A llama has no bias at its output. Here the first dimension is the same for every token and
    no layer writes to it, so that the first column of the output is one.
    """
    import numpy as np

    draw = np.random.default_rng(7)

    def matrix(rows: int, columns: int, spread: float) -> Any:
        return draw.normal(0, spread, (rows, columns)).astype(np.float32)

    ones = np.ones(_WIDTH, np.float32)
    embedding, output = matrix(len(tokens), _WIDTH, 1.0), matrix(len(tokens), _WIDTH, 0.2)
    embedding[:, 0] = 4
    output[:, 0] = [_wish(token, kind) for token, kind in zip(tokens, kinds)]
    found = [
        ("token_embd.weight", embedding),
        ("output_norm.weight", ones),
        ("output.weight", output),
    ]
    shapes = dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), (_WIDTH, _WIDTH))
    shapes |= {
        "ffn_gate": (_HIDDEN, _WIDTH),
        "ffn_up": (_HIDDEN, _WIDTH),
        "ffn_down": (_WIDTH, _HIDDEN),
    }
    for layer in range(_LAYERS):
        found += [(f"blk.{layer}.{norm}.weight", ones) for norm in ("attn_norm", "ffn_norm")]
        for name, (rows, columns) in shapes.items():
            weights = matrix(rows, columns, 0.2)
            if name in ("attn_output", "ffn_down"):
                weights[0] = 0
            found.append((f"blk.{layer}.{name}.weight", weights))
    return found


def _wish(token: str, kind: int) -> float:
    """Say how much a token is wanted: no raw bytes, which make broken UTF-8, and an end soon."""
    from gguf import TokenType

    if kind in (TokenType.BYTE, TokenType.UNKNOWN) or token == _SPECIAL[1]:
        return -5.0
    return 1.2 if token in (_SPECIAL[2], '"') else 0.0
