"""`python -m llmeval_integrations` is the command `llmeval`."""

import sys

from llmeval_integrations.cli.main import main

sys.exit(main())
