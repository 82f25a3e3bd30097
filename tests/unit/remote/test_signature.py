"""Signatures of requests to AWS, beside those of AWS's own library."""

from __future__ import annotations

import datetime as dt

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.remote.credentials import Credentials
from lakeward.remote.signature import FORM, signed_headers

_TIME = "20260131T235959Z"


@given(
    body=st.binary(max_size=300),
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40),
    token=st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60),
    url=st.sampled_from(["https://sts.eu-west-1.amazonaws.com/", "http://127.0.0.1:8333/", "http://host:1/sts/x"]),
    region=st.sampled_from(["us-east-1", "eu-west-1"]),
)
def test_our_signature_is_botocores(body: bytes, secret: str, token: str | None, url: str, region: str) -> None:
    """For any body, key, token and host the headers are the same."""
    ours = signed_headers(url, body, "sts", region, Credentials("AKIDEXAMPLE", secret, token), _TIME)
    assert ours["authorization"] == _by_botocore(url, body, region, secret, token)


def _by_botocore(url: str, body: bytes, region: str, secret: str, token: str | None) -> str:
    request = botocore.awsrequest.AWSRequest("POST", url, data=body, headers={"Content-Type": FORM})
    auth = botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKIDEXAMPLE", secret, token), "sts", region)
    moment = dt.datetime.strptime(_TIME, "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: moment)
        auth.add_auth(request)
    return str(request.headers["Authorization"])
