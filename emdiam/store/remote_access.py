"""How servers are spoken to: waiting, trying again, and credentials, which stay where the ecosystem keeps them.

Nothing of it is written anywhere. For HTTP: the user and password of the address, or those of the
host in the netrc file. For S3: the AWS_ variables of the environment, the profiles in ~/.aws, roles
of containers and machines; see docs/remote.md.
"""

from __future__ import annotations

import base64
import netrc
import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ..addresses import redacted
from ..errors import InputError, StoreError

TIMEOUT = "EMDIAM_REMOTE_TIMEOUT"
# Seconds of silence after which a request is given up, and seconds for one at all, however slowly it comes.
SILENCE_SECONDS, REQUEST_SECONDS, CONNECT_SECONDS = 20.0, 300.0, 10.0
# Requests that fail for a passing reason (5xx, 429, silence, a lost connection) are tried again so often, with
# growing pauses, and not after so many seconds.
RETRIES, RETRY_SECONDS = 4, 60.0
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
             "AWS_CONTAINER_CREDENTIALS_FULL_URI")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
NO_CREDENTIALS = ("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_SKIP_SIGNATURE=true for a"
                  " public bucket")


def connection() -> dict[str, Any]:
    """client_options and retry_config of an obstore store. Raises InputError for a bad EMDIAM_REMOTE_TIMEOUT."""
    text = os.environ.get(TIMEOUT, str(SILENCE_SECONDS))
    try:
        silence = float(text)
    except ValueError:
        silence = 0.0
    if not 0 < silence <= 86_400:
        raise InputError(f"{TIMEOUT} is no number of seconds", text=text, remedy="set it to, say, 60")
    return {
        "client_options": {
            "connect_timeout": timedelta(seconds=min(CONNECT_SECONDS, silence)),
            "read_timeout": timedelta(seconds=silence), "timeout": timedelta(seconds=max(REQUEST_SECONDS, silence)),
        },
        "retry_config": {
            "max_retries": RETRIES, "retry_timeout": timedelta(seconds=min(RETRY_SECONDS, 3 * silence)),
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
        },
    }


def http_store(url: str) -> Any:
    """An obstore store of the objects below `url` (http or https); a query goes with every request."""
    from obstore.store import HTTPStore

    parts = urlsplit(url)
    options = connection()
    if parts.scheme == "http":
        options["client_options"]["allow_http"] = True
    if parts.username is None:
        pair = _from_netrc(parts.hostname)
    else:
        pair = unquote(parts.username), unquote(parts.password or "")
    if pair is not None:  # RFC 7617
        header = "Basic " + base64.b64encode(":".join(pair).encode()).decode()
        options["client_options"]["default_headers"] = {"authorization": header}
    return HTTPStore.from_url(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), **options)


def _from_netrc(host: str | None) -> tuple[str, str] | None:
    """User and password of the host in the file that NETRC names, or ~/.netrc. Raises InputError."""
    path = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
    if host is None or not path.is_file():
        return None
    try:
        entry = netrc.netrc(str(path)).authenticators(host)
    except (netrc.NetrcParseError, OSError, UnicodeDecodeError) as error:
        what = error.msg if isinstance(error, netrc.NetrcParseError) else type(error).__name__
        raise InputError(f"the netrc file cannot be read ({what})", path=path, remedy="mend it or move it") from None
    return None if entry is None else (entry[0], entry[2] or "")


def s3_store(url: str) -> Any:
    """An obstore store of the objects below `url`, s3://bucket/prefix. Raises StoreError."""
    from obstore.store import S3Store

    parts = url.removeprefix("s3://").rstrip("/")
    bucket, _, prefix = parts.partition("/")
    if not bucket or "@" in bucket or "?" in parts or "#" in parts:
        raise StoreError("the address of a store in S3 is s3://BUCKET/PATH and nothing else", path=redacted(url),
                         remedy="endpoint, region and credentials come from the AWS_ variables or a profile")
    options = connection()
    settings: Any = {}
    provider = None
    if not any(map(os.environ.get, _KEYS)) and os.environ.get("AWS_SKIP_SIGNATURE", "").lower() != "true":
        settings, provider = _from_boto3()
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), None)
    if endpoint is not None:
        settings["endpoint"] = endpoint
    options["client_options"]["allow_http"] = settings.get("endpoint", "").startswith("http://")
    return S3Store(bucket, prefix=prefix or None, config=settings, credential_provider=provider, **options)


def _from_boto3() -> tuple[Any, Any]:
    """(region and endpoint, provider of credentials) that boto3 makes of the profiles in ~/.aws and of the role of
    the machine. It takes a second to load, so it is asked only where the environment has no keys. Raises StoreError."""
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        raise StoreError("the credentials of a profile need the package boto3",
                         remedy="pip install 'emdiam[remote]', or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                         ) from None
    try:
        session = boto3.Session()
        meta, credentials = session.client("s3").meta, session.get_credentials()
    except (BotoCoreError, ValueError) as error:
        raise StoreError(f"the profile of AWS cannot be used ({type(error).__name__}: {redacted(str(error))})",
                         remedy="check AWS_PROFILE and the files in ~/.aws") from None
    if credentials is None:
        raise StoreError("there are no credentials for S3", remedy=NO_CREDENTIALS)
    settings = {} if meta.region_name in (None, "aws-global") else {"region": meta.region_name}
    if ".amazonaws.com" not in meta.endpoint_url:
        settings["endpoint"] = meta.endpoint_url
    return settings, Boto3CredentialProvider(session)
