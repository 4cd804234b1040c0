"""`python -m contrapose.flows.cli` runs the command when the script `contrapose` is not on the path."""

import sys

from contrapose.flows.cli import main

sys.exit(main())
