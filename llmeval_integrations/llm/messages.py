"""The messages, images and requests that a model receives."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import asdict

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.quote import hint, quote

T = TypeVar("T", bound=msgspec.Struct)

Role = Literal["system", "user", "assistant"]

Output = Literal["auto", "json_schema", "tool", "json", "text"]
"""How an answer in a given form is requested: by the provider's own structured output, by a
forced tool call, by words in the prompt, or not at all; "auto" uses the first that works."""

_DEEPEST: Final = 8  # the level of an image in a value; in a list of messages it is the fourth
_IMAGE: Final = 6_000  # the characters that an image counts as: about 1,500 tokens

_WORDS: Final = (
    "Reply with one JSON object and nothing else, without a code fence. "
    "It has to fit this JSON Schema:\n"
)


class Image(msgspec.Struct, frozen=True):
    """An image, given by its address or by its content."""

    url: str = ""
    data: str = ""  # the content in base64, if there is no address
    media_type: str = "image/png"

    def __post_init__(self) -> None:
        if not self.data and not self.url.startswith(("http://", "https://")):
            raise InputError(
                f"an image's url={quote(self.url)} is not a web address; give the content of a "
                "file as data"
            )

    @property
    def address(self) -> str:
        """The address, or a data URL with the content."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Role
    """The speaker: system, user or assistant."""

    content: str | tuple[str | Image, ...]
    """The text, or a sequence of texts and images."""

    @property
    def text(self) -> str:
        """The content as one text, with each part in its own paragraph."""
        return "\n\n".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts of the content."""
        return tuple(block for block in self.blocks if isinstance(block, str))

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of the content."""
        return tuple(block for block in self.blocks if isinstance(block, Image))

    @property
    def blocks(self) -> tuple[str | Image, ...]:
        """The texts and images of the content."""
        return (self.content,) if isinstance(self.content, str) else self.content

    def extend(self, before: Sequence[str | Image] = (), after: str = "") -> Message:
        """Return the message with paragraphs or images before it, and a paragraph after it."""
        is_text = isinstance(self.content, str)
        own = (self.text.rstrip(),) if is_text and after else self.blocks
        whole = Message(self.role, tuple(filter(None, (*before, *own, after))))
        return Message(self.role, whole.text) if is_text and not whole.images else whole

    def escape(self) -> Message:
        """Return the message with halves of surrogate pairs escaped, which UTF-8 cannot encode."""
        blocks = tuple(
            block.encode(errors="backslashreplace").decode() if isinstance(block, str) else block
            for block in self.blocks
        )
        content = blocks[0] if isinstance(self.content, str) else blocks
        return msgspec.structs.replace(self, content=content)


class Request(msgspec.Struct, frozen=True):
    """One question to a model."""

    messages: tuple[Message, ...]
    """The conversation so far, with the question at the end."""

    schema: dict[str, Any] | None = None
    """The JSON Schema of the wanted answer, an object; None for free text."""

    schema_name: str = "answer"
    """The name of the answer in the call."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    """The sampling temperature; None leaves it to the client."""

    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The longest reply, in tokens; None leaves it to the client."""

    fence: str = ""
    """A random mark in the messages, new in each call and therefore not part of a cache key."""

    draw: tuple[int, ...] = ()
    """Which of several replies to the same question is wanted: its number in each enclosing vote,
    from the outermost inwards. Each reply is cached separately."""

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def length(self) -> int:
        """The number of characters in text and schema, plus an equivalent for each image."""
        images = sum(len(message.images) for message in self.messages)
        schema = len(json.dumps(self.schema)) if self.schema else 0
        return len(self.text) + schema + images * _IMAGE

    def prepend(self, blocks: Sequence[str | Image]) -> Request:
        """Return the request with paragraphs or images before its first user message."""
        messages = list(self.messages)
        place = next((n for n, each in enumerate(messages) if each.role == "user"), 0)
        messages[place] = messages[place].extend(before=blocks)
        return msgspec.structs.replace(self, messages=tuple(messages))

    @classmethod
    def of(cls, prompt: Any, **fields: Any) -> Request:
        """Make a request from a text or a list of messages; raises InvalidOptionError."""
        return build(cls, {"messages": as_messages(prompt, "prompt"), **fields})


def build(kind: type[T], fields: Mapping[str, Any], prefix: str = "") -> T:
    """Make a configuration or a request; raises InvalidOptionError, which shows no key."""
    known = kind.__struct_fields__
    for name in fields.keys() - {*known}:
        hints = hint(name, known)
        raise InvalidOptionError(f"{prefix}{kind.__name__} has no field {name!r}; {hints}")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise InvalidOptionError(f"{prefix}{error}") from None  # it quotes no key


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    role: Role
    content: str | Annotated[list[Any], msgspec.Meta(min_length=1)]


def as_messages(given: Any, name: str) -> tuple[Message, ...]:
    """Return the messages of a text, which is the user's, or of a list of messages.

    A content is a text, or a list of texts and images in an API's form. Raises InvalidOptionError.
    """
    if isinstance(given, str):
        return (Message("user", given),)
    messages: list[Message] = []
    try:
        fields = [asdict(each) if isinstance(each, Message) else each for each in given]
        for entry in msgspec.convert(fields, list[_Entry]):
            content = entry.content
            parts = content if isinstance(content, str) else tuple(map(_read_part, content))
            messages.append(Message(entry.role, parts))
    except (msgspec.ValidationError, InputError, TypeError) as error:
        raise InvalidOptionError(
            f"{name}={quote(given)} is not a text or a list of messages, which are written "
            f"{{'role': ..., 'content': ...}}: {error}"
        ) from None
    if not messages:
        raise InvalidOptionError(f"{name}={quote(given)} has no message")
    return tuple(messages)


def _read_part(part: Any) -> str | Image:
    if isinstance(part, (str, Image)):
        return part
    image = _read_image(part) if isinstance(part, Mapping) else None
    return image or msgspec.convert(part, _Part).text


def take_images(value: Any, images: list[Image], levels: int = _DEEPEST) -> Any:
    """Return a value with each image replaced by "[image 1]" and so on; add them to `images`.

    Raises InputError for an image that has neither a web address nor content.
    """
    taken, before = value, len(images)
    if not levels or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if (image := _read_image(value)) is not None:
            images.append(image)
            return f"[image {len(images)}]"
        taken = {key: take_images(each, images, levels - 1) for key, each in value.items()}
    elif isinstance(value, (list, tuple)):
        taken = [take_images(each, images, levels - 1) for each in value]
    elif isinstance(content := getattr(value, "content", None), list):
        take_images(content, images)  # of a framework's message only the text is read later
        return value
    return taken if len(images) > before else value


def _read_image(part: Mapping[Any, Any]) -> Image | None:
    """Read an image in the form of OpenAI, Anthropic or LangChain; None for anything else."""
    if part.get("type") not in ("image", "image_url", "input_image"):
        return None
    inside = part.get("image_url") or part.get("source") or part
    inside = inside if isinstance(inside, Mapping) else {"url": inside}
    url, data = inside.get("url") or "", inside.get("data") or inside.get("base64") or ""
    if isinstance(data, bytes):
        data = b64encode(data).decode()
    if not (isinstance(url, str) and isinstance(data, str) and url + data):
        return None
    media = inside.get("media_type") or inside.get("mime_type") or guess_type(url)[0] or "image/png"
    if url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        url, media = "", head.removesuffix(";base64")
    return Image(url, data, str(media))


def in_words(request: Request, output: Output) -> tuple[Message, ...]:
    """Return the messages; for the output "json" the last one ends with the wanted form."""
    if output != "json":
        return request.messages
    *others, last = request.messages
    words = _WORDS + json.dumps(request.schema, ensure_ascii=False)
    return (*others, last.extend(after=words))


def split_system(messages: tuple[Message, ...]) -> tuple[str, list[Message]]:
    """Separate the system's text from the conversation, for vendors that receive them apart."""
    system = [message.text for message in messages if message.role == "system"]
    return "\n\n".join(system), [each for each in messages if each.role != "system"]
