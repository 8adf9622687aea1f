"""``python -m trialbox``."""

import sys

from trialbox.cli import main

sys.exit(main())
