"""``python -m tests.cli_on_a_board ARGUMENTS``: ``trialbox ARGUMENTS`` on a host whose GPU driver is the stand-in.

The driver's state is the file that ``NVML_STUB`` names; the real ``pynvml`` is answered by the ctypes form of the
stand-in, so no compiler is needed.
"""

from __future__ import annotations

import sys

import pynvml

from tests.energy_nvml_probe import callbacks
from trialbox.cli import main

if __name__ == "__main__":
    pynvml.nvmlLib = callbacks()
    sys.exit(main())
