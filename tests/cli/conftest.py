import shlex
import sys

import pytest

from llmeval_integrations.cli.main import main


@pytest.fixture
def llmeval(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [*sys.path])

    def llmeval(line, *more):
        try:
            code = main([*shlex.split(line), *more])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return llmeval
