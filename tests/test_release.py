"""The wheel as a release builds it."""

import os
import re
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
ADDRESS = "https://github.example/owner/name"


def build(to, **environment):
    """Build the wheel; return its metadata and its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)
    [path] = to.glob("*.whl")
    with ZipFile(path) as wheel:
        [name] = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_string(wheel.read(name).decode()), wheel


def test_a_release_has_addresses_and_its_readme_no_relative_link(tmp_path):
    metadata, _ = build(tmp_path, REPOSITORY_URL=ADDRESS)
    assert "Homepage, " + ADDRESS in metadata.get_all("Project-URL")
    readme, tag = metadata.get_payload(), f"v{metadata['Version']}"
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert all(link.startswith("https://") for link in links)
    assert f"{ADDRESS}/raw/{tag}/docs/images/report.png" in links
    for link in links:  # each file is there
        if link.startswith(f"{ADDRESS}/"):
            path = link.removeprefix(f"{ADDRESS}/").split("/", 2)[2]
            assert (ROOT / path.split("#")[0]).exists()


def test_another_build_has_no_address_and_the_readme_as_it_is(tmp_path):
    metadata, wheel = build(tmp_path, REPOSITORY_URL="")
    assert metadata.get_all("Project-URL") is None
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
    demo = [each.compress_size for each in wheel.infolist() if "/demo/" in each.filename]
    assert 0 < sum(demo) < 60_000
