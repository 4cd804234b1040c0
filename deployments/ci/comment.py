"""`python -m contrapose.deployments.ci.comment REPORT`: create or update one comment of a pull or merge request.

GitHub's and GitLab's runners say where they are by environment variables; the token is GITHUB_TOKEN or
CONTRAPOSE_COMMENT_TOKEN.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

MOST_BYTES = 60_000
"""GitHub takes 65,536 characters."""

PAGE = 100
TIMEOUT = 30


class CannotCommentError(Exception):
    """The server refused the comment, or a setting that the comment needs is missing."""


@dataclass(frozen=True)
class CommentServer:
    """A GitHub or GitLab server that keeps the comments of one pull or merge request."""

    api: str
    comments: str
    """Path of the comments of this request."""
    one: Callable[[int], str]
    """Path of one comment."""
    headers: Mapping[str, str]
    method: str
    """Replaces a comment."""
    is_mine: Callable[[Mapping[str, Any]], bool]
    """Whether a comment is by the owner of the token: nobody else's is replaced, whatever it begins with."""

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the server's answer; refuse a redirect, because the token would be sent along."""
        parts = urlsplit(self.api)
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = connect(parts.netloc, timeout=TIMEOUT)
        try:
            content = None if body is None else json.dumps(body)
            headers = {**self.headers, "Content-Type": "application/json", "User-Agent": "contrapose"}
            connection.request(method, parts.path.rstrip("/") + path, content, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in (200, 201):
                raise CannotCommentError(f"{method} {path}: the server answers {answer.status} {answer.reason}")
            return json.loads(text)
        except (OSError, HTTPException, ValueError) as error:
            raise CannotCommentError(f"{method} {path}: {error or type(error).__name__}") from error
        finally:
            connection.close()


def read_github_runner(environment: Mapping[str, str]) -> CommentServer:
    """Return the GitHub server that its runner describes; PULL_REQUEST is the number."""
    issues = f"/repos/{environment['GITHUB_REPOSITORY']}/issues"
    return CommentServer(
        api=environment["GITHUB_API_URL"],
        comments=f"{issues}/{int(environment['PULL_REQUEST'])}/comments",
        one=lambda number: f"{issues}/comments/{number}",
        headers={"Authorization": f"Bearer {environment['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"},
        method="PATCH",
        is_mine=lambda comment: comment["user"]["type"] == "Bot",
    )


def read_gitlab_runner(environment: Mapping[str, str]) -> CommentServer:
    """Return the GitLab server that its runner describes."""
    project = f"/projects/{int(environment['CI_PROJECT_ID'])}"
    notes = f"{project}/merge_requests/{int(environment['CI_MERGE_REQUEST_IID'])}/notes"
    mine: list[int] = []

    def is_mine(comment: Mapping[str, Any]) -> bool:
        if not mine:
            mine.append(host.call("GET", "/user")["id"])
        return bool(comment["author"]["id"] == mine[0])

    host = CommentServer(
        api=environment["CI_API_V4_URL"],
        comments=notes,
        one=lambda number: f"{notes}/{number}",
        headers={"PRIVATE-TOKEN": environment["CONTRAPOSE_COMMENT_TOKEN"]},
        method="PUT",
        is_mine=is_mine,
    )
    return host


def make_marker(name: str) -> str:
    """Return the first line of our comment; several suites have one each."""
    return f"<!-- contrapose{f' {name}' if name else ''} -->"


def put_comment(host: CommentServer, report: str, *, name: str = "") -> None:
    """Replace our comment, or create it if there is none."""
    text = f"{make_marker(name)}\n{report}".encode()[:MOST_BYTES].decode("utf-8", errors="ignore")
    known = (item for item in _list(host) if item["body"].startswith(f"{make_marker(name)}\n") and host.is_mine(item))
    if (comment := next(known, None)) is None:
        host.call("POST", host.comments, {"body": text})
    else:
        host.call(host.method, host.one(comment["id"]), {"body": text})


def _list(host: CommentServer) -> Iterator[Mapping[str, Any]]:
    page, full = 1, True
    while full:
        comments = host.call("GET", f"{host.comments}?per_page={PAGE}&page={page}")
        yield from comments
        page, full = page + 1, len(comments) == PAGE


def main() -> int:
    """Read the arguments, and create or update the comment."""
    parser = argparse.ArgumentParser(description="Put a report into the one comment of a pull or merge request.")
    parser.add_argument("report", type=Path, help="report.md of a run")
    parser.add_argument("--name", default="", help="of this evaluation, where a request has several")
    arguments = parser.parse_args()
    try:
        host = (read_gitlab_runner if "CI_MERGE_REQUEST_IID" in os.environ else read_github_runner)(os.environ)
        put_comment(host, arguments.report.read_text("utf-8"), name=arguments.name.replace("--", ""))
    except KeyError as error:
        print(f"{error} is not set; expected the environment of GitHub's or GitLab's runner", file=sys.stderr)
        return 2
    except (CannotCommentError, OSError, ValueError) as error:
        remedy = "Give the token pull-requests: write (GitHub) or the scope api (GitLab). The report is in its folder."
        print(f"no comment was written: {error}. {remedy}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
