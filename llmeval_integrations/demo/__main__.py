"""`python -m llmeval_integrations.demo` evaluates the made-up outputs and prints the table."""

import sys

from llmeval_integrations.cli.main import main
from llmeval_integrations.demo import EVAL

sys.exit(main(["run", str(EVAL), *sys.argv[1:]]))
