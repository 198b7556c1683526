import os
import uuid

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

# Waits as Retry-After asks. Without raise_on_status=False the last answer, and its message, would be lost.
retries = Retry(total=4, backoff_factor=0.5, status_forcelist=[429, 503], allowed_methods={"GET", "POST"}, raise_on_status=False)
session = requests.Session()
session.mount("https://", HTTPAdapter(max_retries=retries))
session.mount("http://", HTTPAdapter(max_retries=retries))
session.headers["Authorization"] = "Bearer " + os.environ["API_KEY"]
url = os.environ["API"]

print(session.get(url + "/v1/me", timeout=60).json()["organization"]["name"])

answer = session.post(
    url + "/v1/webhooks",
    json={"url": "https://example.com/webhooks", "events": ["*"]},
    headers={"Idempotency-Key": str(uuid.uuid4())},
    timeout=60,
)
answer.raise_for_status()
print(answer.json()["id"])

try:
    session.post(url + "/v1/webhooks", json={"url": "http://example.com/", "events": ["*"]}, timeout=60).raise_for_status()
except requests.HTTPError as failure:
    error = failure.response.json()["error"]
    print(error["code"], error["message"], error["request_id"])
