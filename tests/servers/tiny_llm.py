"""The inference server of `tools/tiny_llm.py`, which the notebook on judges starts too."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_SPEC = spec_from_file_location("tools_tiny_llm", Path(__file__).parents[2] / "tools/tiny_llm.py")
_TOOL = module_from_spec(_SPEC)
_SPEC.loader.exec_module(_TOOL)

CONTEXT, address, serve = _TOOL.CONTEXT, _TOOL.address, _TOOL.serve
