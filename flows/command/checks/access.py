"""Who may ask the Prefect server that is used: a stranger tries, from another page and without a key."""

from __future__ import annotations

from collections.abc import Iterator

from contrapose.flows.command.checks.base import DoctorFinding, ok, warning, within

NAME = "server access"
STRANGER = "https://page.invalid"
"""Origin of a page that no server knows; the name belongs to nobody."""

ASKED = "/admin/version"
"""What every Prefect server answers to whom it lets in, and what tells nothing."""

GUIDE = "docs/behind-a-proxy.md says how."


def findings(url: str) -> Iterator[DoctorFinding]:
    """What the server answers to a stranger; nothing where it cannot be asked that way.

    Args:
        url: of the server's API.
    """
    from httpx import HTTPError, InvalidURL

    try:
        status, allowed = within(lambda: _asked_by_stranger(url))
    except (HTTPError, InvalidURL, OSError):
        # With certificates or a proxy of its own, which Prefect's client has and a stranger has not.
        return
    yield _judged(answers=status < 300, allowed=allowed)


def _asked_by_stranger(url: str) -> tuple[int, str]:
    """Status, and the origins that may read the reply."""
    import httpx

    # What an address holds of names and passwords is not the stranger's.
    bare = httpx.URL(url.rstrip("/") + ASKED).copy_with(userinfo=b"")
    reply = httpx.get(bare, headers={"Origin": STRANGER}, timeout=5)
    return reply.status_code, reply.headers.get("Access-Control-Allow-Origin", "")


def _judged(*, answers: bool, allowed: str) -> DoctorFinding:
    foreign = allowed in ("*", STRANGER)
    if answers and foreign:
        found = "asks for no authentication, and lets pages of every origin read: any page that is open can use it"
        remedy = "Set PREFECT_SERVER_API_AUTH_STRING and PREFECT_SERVER_CORS_ALLOWED_ORIGINS where it is started, or "
        return warning(NAME, found, f"{remedy}use contrapose ui. {GUIDE}")
    if answers:
        found = "asks for no authentication: whoever reaches it can start runs and read Secret blocks"
        return warning(NAME, found, f"Set PREFECT_SERVER_API_AUTH_STRING where it is started. {GUIDE}")
    if foreign:
        found = "lets pages of every origin read its answers"
        remedy = "Set PREFECT_SERVER_CORS_ALLOWED_ORIGINS to its own address where it is started."
        return warning(NAME, found, f"{remedy} {GUIDE}")
    return ok(NAME, "asks for authentication, and lets no other page read")
