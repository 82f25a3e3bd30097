"""Signatures of requests to AWS, beside those of AWS's own library."""

from __future__ import annotations

import datetime as dt
from urllib.parse import quote, urlencode

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.remote.s3.credentials import Credentials
from lakeward.remote.s3.signature import signed_headers

_TIME = "20260131T235959Z"
_FORM = "application/x-www-form-urlencoded; charset=utf-8"
_VISIBLE = st.characters(min_codepoint=33, max_codepoint=126)
_SECRETS = st.text(_VISIBLE, min_size=1, max_size=40)
_TOKENS = st.none() | st.text(_VISIBLE, min_size=1, max_size=60)


@given(
    body=st.binary(max_size=300),
    secret=_SECRETS,
    token=_TOKENS,
    url=st.sampled_from(["https://sts.eu-west-1.amazonaws.com/", "http://127.0.0.1:8333/", "http://host:1/sts/x"]),
    region=st.sampled_from(["us-east-1", "eu-west-1"]),
)
def test_a_posted_form_is_signed_as_botocore_signs_it(
    body: bytes, secret: str, token: str | None, url: str, region: str
) -> None:
    """For any body, key, token and host the headers are the same."""
    keys = Credentials("AKIDEXAMPLE", secret, token)
    ours = signed_headers("POST", url, {"content-type": _FORM}, body, ("sts", region), keys, _TIME)
    request = botocore.awsrequest.AWSRequest("POST", url, data=body, headers={"Content-Type": _FORM})
    assert ours["authorization"] == _by_botocore(botocore.auth.SigV4Auth, request, ("sts", region), keys)


@given(
    secret=_SECRETS,
    token=_TOKENS,
    path=st.text(max_size=20),
    query=st.dictionaries(st.sampled_from(["uploads", "prefix", "uploadId", "a"]), st.text(max_size=20), max_size=3),
)
def test_a_call_to_s3_is_signed_as_botocore_signs_it(
    secret: str, token: str | None, path: str, query: dict[str, str]
) -> None:
    """Any path and any query, with characters that must be written otherwise."""
    url = f"http://127.0.0.1:8333/bucket/{quote(path, safe='/-_.~')}"
    keys = Credentials("AKIDEXAMPLE", secret, token)
    ours = signed_headers("GET", f"{url}?{urlencode(query)}", {}, b"", ("s3", "us-east-1"), keys, _TIME)
    request = botocore.awsrequest.AWSRequest("GET", url, params=query)
    assert ours["authorization"] == _by_botocore(botocore.auth.S3SigV4Auth, request, ("s3", "us-east-1"), keys)


def _by_botocore(
    kind: type[botocore.auth.SigV4Auth],
    request: botocore.awsrequest.AWSRequest,
    scope: tuple[str, str],
    keys: Credentials,
) -> str:
    theirs = botocore.credentials.Credentials(keys.access_key, keys.secret_key, keys.session_token)
    moment = dt.datetime.strptime(_TIME, "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: moment)
        request.context["payload_signing_enabled"] = True
        kind(theirs, *scope).add_auth(request)
    return str(request.headers["Authorization"])
