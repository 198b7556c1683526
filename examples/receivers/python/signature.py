"""Whether a delivery was made with one of our secrets. Needs only Python's standard library."""

import base64
import hashlib
import hmac
import time


def is_signed(headers, raw_body, secrets, tolerance_seconds=300):
    """
    headers: a mapping that ignores case, as every framework has it
    raw_body: the bytes as they arrived, before any JSON parser
    secrets: the secret of the webhook, whsec_...; during a rotation the old and the new one
    """
    # The Standard Webhooks signature also covers the time of the attempt, so it is the one to verify where it is present.
    if "webhook-signature" in headers:
        return _is_recent(headers.get("webhook-timestamp", ""), tolerance_seconds) and any(
            _matches_standard(headers, raw_body, secret) for secret in secrets
        )
    given = headers.get("x-service-signature", "")
    return any(_is_equal(_hmac(secret.encode(), raw_body).hex(), given) for secret in secrets)


def _is_recent(timestamp, tolerance_seconds):
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    return is_number and abs(time.time() - int(timestamp)) <= tolerance_seconds


def _matches_standard(headers, raw_body, secret):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{headers['webhook-timestamp']}.".encode() + raw_body
    expected = "v1," + base64.b64encode(_hmac(key, signed)).decode()
    # During a rotation there are several signatures, separated by spaces. One that matches is enough.
    return any(_is_equal(expected, given) for given in headers["webhook-signature"].split(" "))


def _hmac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def _is_equal(expected, given):
    # In constant time: the duration of the comparison must not reveal where it failed.
    return hmac.compare_digest(expected.encode(), given.encode())
