"""`python -m contrapose.flows.cli`: the command, where its script is not on the path."""

import sys

from contrapose.flows.cli import main

sys.exit(main())
