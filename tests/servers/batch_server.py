"""The batch interfaces of OpenAI and Anthropic, on the server of `server.py`.

`answers(body)` gives the text of a question's reply, None for one that the batch fails at. A batch
is done once it was looked at `polls` times.
"""

from __future__ import annotations

import json
from itertools import count

from server import answer


class OpenAIBatches:
    """Files and batches, and chat completions beside them."""

    model = "openai:gpt-4o"
    root = "/v1"

    def __init__(self, answers, said, polls=2):
        self.answers, self.said, self.polls = answers, said, polls
        self.files, self.looks, self.direct = {}, {}, []
        self.numbers = count(1)

    def __call__(self, request):
        path = request.path.partition("?")[0]
        method, _, rest = path.removeprefix("/v1/").partition("/")
        if method == "chat":
            self.direct.append(request.body)
            return self.said(self.answers(request.body) or "{}")
        if method == "files" and request.method == "POST":
            lines = [line for line in request.body.splitlines() if line.startswith(b'{"custom_id"')]
            file = f"file-{next(self.numbers)}"
            self.files[file] = [json.loads(line) for line in lines]
            fields = {"bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
            return answer({"id": file, "object": "file", "status": "processed", **fields})
        if method == "files":
            return answer("\n".join(map(self.line, self.files[rest.partition("/")[0]])))
        file = request.body["input_file_id"] if request.method == "POST" else rest
        self.looks[file] = self.looks.get(file, -1) + 1
        return answer(self.batch(file))

    def batch(self, file):
        """Describe a batch, whose name is that of its file."""
        done = self.looks[file] >= self.polls
        state = {"status": "completed" if done else "in_progress", "output_file_id": file}
        fields = {"completion_window": "24h", "created_at": 1, "endpoint": "e", "object": "batch"}
        return {"id": file, "input_file_id": file, **fields, **state}

    def line(self, item):
        """Write the line of a result."""
        text = self.answers(item["body"])
        body = json.loads(self.said(text or "").body)
        response = {"status_code": 200, "body": body} if text else {"status_code": 500, "body": {}}
        return json.dumps({"id": "r", "custom_id": item["custom_id"], "response": response})

    @property
    def batched(self):
        """The bodies that batches had."""
        return [item["body"] for items in self.files.values() for item in items]


class AnthropicBatches(OpenAIBatches):
    """Message batches, and messages beside them."""

    model = "anthropic:claude-sonnet-5"
    root = ""

    def __call__(self, request):
        path = request.path.partition("?")[0].removeprefix("/v1/messages").strip("/")
        if not path:
            self.direct.append(request.body)
            return self.said(self.answers(request.body) or "{}")
        _, _, rest = path.partition("/")
        batch = rest.partition("/")[0]
        self.host = request.headers["host"]
        if not batch:
            batch = f"msgbatch_{next(self.numbers)}"
            self.files[batch] = request.body["requests"]
            self.looks[batch] = -1
        elif rest.endswith("results"):
            return answer("\n".join(map(self.line, self.files[batch])))
        self.looks[batch] += 1
        return answer(self.batch(batch))

    def batch(self, batch):
        status = "ended" if self.looks[batch] >= self.polls else "in_progress"
        counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch, "type": "message_batch", "processing_status": status,
            "request_counts": {"processing": len(self.files[batch]), **counts},
            "created_at": "2099-01-01T00:00:00Z", "expires_at": "2099-01-02T00:00:00Z",
            "results_url": f"http://{self.host}/v1/messages/batches/{batch}/results",
        }  # fmt: skip

    def line(self, item):
        text = self.answers(item["params"])
        message = json.loads(self.said(text or "").body)
        error = {"type": "error", "error": {"type": "api_error", "message": "no"}}
        succeeded = {"type": "succeeded", "message": message}
        result = succeeded if text else {"type": "errored", "error": error}
        return json.dumps({"custom_id": item["custom_id"], "result": result})

    @property
    def batched(self):
        return [item["params"] for items in self.files.values() for item in items]
