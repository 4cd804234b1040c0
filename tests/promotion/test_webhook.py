"""Webhooks: what is signed, who can tell, and how often it is tried."""

from __future__ import annotations

import hashlib
import hmac
import time

import pytest
from receiver import receiving

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import DELIVERY, HEADER, genuine, send, signature

BODY, SECRET = b'{"verdict": "promote"}', "of-these-tests-alone"


def sent(url: str, waits: list[float] | None = None) -> None:
    send(url, BODY, secret=SECRET, delivery="d1", pause=(waits if waits is not None else []).append)


def test_a_receiver_can_tell_who_sent_it_and_when() -> None:
    with receiving() as receiver:
        sent(receiver.url)
    assert receiver.bodies == [BODY]
    header = receiver.headers[0][HEADER]
    assert receiver.headers[0][DELIVERY] == "d1"
    now = time.time()
    assert genuine(BODY, header, SECRET, now=now)
    assert not genuine(BODY + b" ", header, SECRET, now=now)
    assert not genuine(BODY, header, "another secret altogether", now=now)
    assert not genuine(BODY, header, SECRET, now=now + 301)
    other = header.replace("t=", "t=1")
    assert not genuine(BODY, other, SECRET, now=float(other.partition(",")[0][2:]))


def test_the_signature_is_what_its_description_says() -> None:
    expected = hmac.new(SECRET.encode(), b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert signature(BODY, SECRET, at=1_700_000_000) == f"t=1700000000,v1={expected}"


@pytest.mark.parametrize("header", ["", "t=", "t=x,v1=", "v1=0", "t=1700000000", "t=١,v1=x", "t=" + "9" * 5000, ","])
def test_a_header_of_another_form_is_never_genuine(header: str) -> None:
    assert not genuine(BODY, header, SECRET, now=1_700_000_000)


def test_it_is_tried_three_times_and_no_more() -> None:
    waits: list[float] = []
    with receiving([500, 429, 200]) as receiver:
        sent(receiver.url, waits)
    assert (len(receiver.bodies), waits) == (3, [2.0, 4.0])
    with receiving([500] * 9) as receiver, pytest.raises(ContraposeError, match="status 500"):
        sent(receiver.url)
    assert len(receiver.bodies) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404])
def test_a_refusal_or_a_redirect_is_final(status: int) -> None:
    told = pytest.raises(ContraposeError, match=f"status {status}")
    with receiving() as other, receiving([status], location=other.url) as receiver, told:
        sent(receiver.url)
    assert (len(receiver.bodies), len(other.bodies)) == (1, 0)


def test_a_receiver_that_is_gone_is_told_without_its_path() -> None:
    with receiving() as receiver:
        pass
    with pytest.raises(ContraposeError, match="ConnectionRefusedError") as caught:
        sent(receiver.url)
    assert "/hook" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a/b", "https://me:pw@host/", "https://host/?token=pw", "host/path", "https://"]
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="webhook") as caught:
        Promotion(webhook=url)
    assert "pw" not in str(caught.value)
