"""OpenUploads: parts of large files that a killed process left in a bucket, which nobody sees and somebody pays for."""

from __future__ import annotations

import logging
from urllib.parse import quote, unquote_plus, urlencode

from lakeward.errors import DeniedError, ErrorCode, InvalidError
from lakeward.remote.s3.credentials import CredentialSource
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.s3.signed_call import SignedCalls, element, elements
from lakeward.runtime.clock import Clock

_log = logging.getLogger(__name__)
_PAGES_MAX = 100


class OpenUploads:
    """The uploads of a bucket that have begun and not ended. Its calls block."""

    def __init__(self, bucket: str, settings: S3Settings, keys: CredentialSource, clock: Clock) -> None:
        endpoint = settings.bucket_endpoint(bucket) or f"https://{bucket}.s3.{settings.region}.amazonaws.com"
        self._root = f"{endpoint}/{bucket}" if settings.path_style else endpoint
        self._keys = keys
        self._calls = SignedCalls("s3", settings.region, clock, ErrorCode.STORAGE)
        self._is_refused = False

    def abort(self, directory: str) -> int:
        """End those below a directory; how many. A store that does not let us is reported once, and left alone."""
        count = 0
        if self._is_refused:
            return count
        try:
            for _ in range(_PAGES_MAX):
                uploads, is_last = self._page(f"{directory}/")
                for key, upload_id in uploads:
                    self._abort(key, upload_id)
                    count += 1
                if is_last or not uploads:
                    break
        except (DeniedError, InvalidError) as wrong:
            self._is_refused = True
            _log.info("uploads that were interrupted stay in the bucket: %s", wrong.message)
        return count

    def _page(self, prefix: str) -> tuple[list[tuple[str, str]], bool]:
        query = urlencode({"encoding-type": "url", "prefix": prefix, "uploads": ""})
        text = self._calls.call("GET", f"{self._root}?{query}", "ListMultipartUploads", self._keys(), {})
        keys = [unquote_plus(key) for key in elements("Key", text)]
        found = zip(keys, elements("UploadId", text), strict=True)
        return [(key, upload_id) for key, upload_id in found if key.startswith(prefix)], element(
            "IsTruncated", text
        ) != "true"

    def _abort(self, key: str, upload_id: str) -> None:
        url = f"{self._root}/{quote(key, safe='/-_.~')}?{urlencode({'uploadId': upload_id})}"
        self._calls.call("DELETE", url, "AbortMultipartUpload", self._keys(), {})
