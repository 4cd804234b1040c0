"""`python -m contrapose.deployments.ci.badge SUMMARY FOLDER`: write badge.svg, and badge.json for shields.io."""

from __future__ import annotations

import argparse
import json
import sys
from html import escape
from pathlib import Path

COLOURS = {"pass": "#2e7d32", "fail": "#c62828", "inconclusive": "#8d6e00", "incomplete": "#616161"}
LETTER = 7
"""Pixels that a letter takes, at most, of the font below."""


def make_badge_json(verdict: str, label: str) -> dict[str, object]:
    """Return the JSON that shields.io expects from an endpoint badge."""
    return {"schemaVersion": 1, "label": label, "message": verdict, "color": COLOURS[verdict]}


def draw_badge(verdict: str, label: str) -> str:
    """Draw the badge as an SVG that loads nothing from the network."""
    left, right = LETTER * len(label) + 12, LETTER * len(verdict) + 12
    said = f"{escape(label)}: {verdict}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{said}">'
        f"<title>{said}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#37474f"/>'
        f'<rect x="{left}" width="{right}" height="20" rx="3" fill="{COLOURS[verdict]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2}" y="14">{verdict}</text></g></svg>\n'
    )


def main() -> int:
    """Read the arguments, and write both files."""
    parser = argparse.ArgumentParser(description="Write a badge of a verdict.")
    parser.add_argument("summary", type=Path, help="summary.json of a run")
    parser.add_argument("folder", type=Path, help="receives badge.svg and badge.json")
    parser.add_argument("--label", default="contrapose", help="left half of the badge (default: contrapose)")
    arguments = parser.parse_args()
    try:
        verdict = json.loads(arguments.summary.read_text("utf-8"))["verdict"]
        arguments.folder.mkdir(parents=True, exist_ok=True)
        (arguments.folder / "badge.json").write_text(json.dumps(make_badge_json(verdict, arguments.label)), "utf-8")
        (arguments.folder / "badge.svg").write_text(draw_badge(verdict, arguments.label), "utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"no badge was written: {arguments.summary} is no summary of a run ({error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
