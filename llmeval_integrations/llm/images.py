"""Images in samples: parts of messages that a model is shown beside the text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote

_DEEPEST: Final = 8
"""The deepest level of an image in a value; in a list of messages it is the fourth."""


class Image(msgspec.Struct, frozen=True):
    """An image, given by its address or by its content."""

    url: str = ""
    """The address; empty if the content is given."""

    data: str = ""
    """The content in base64."""

    media_type: str = "image/png"
    """The media type, such as image/jpeg."""

    def __post_init__(self) -> None:
        if not self.data and not self.url.startswith(("http://", "https://")):
            raise ValueError(
                f"an image's url={quote(self.url)} is not a web address; give the content of a "
                "file as data"
            )

    @property
    def address(self) -> str:
        """The address, or a data URL with the content."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


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
    kind = part.get("type")
    if kind not in ("image", "image_url", "input_image"):
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
    try:
        return Image(url, data, str(media))
    except ValueError as error:
        raise InputError(str(error)) from None
