"""Every function that reads text from outside, by name, as a function of that text alone; and fragments to try.

`bench.linearity` measures how their time grows, and a test holds that it grows no faster than the text.
"""

from __future__ import annotations
