import os
import uuid

import urllib3

retries = urllib3.Retry(
    total=4, backoff_factor=0.5, status_forcelist=[429, 503], allowed_methods={"GET", "POST"}, raise_on_status=False
)
http = urllib3.PoolManager(retries=retries, headers={"Authorization": "Bearer " + os.environ["API_KEY"]})
url = os.environ["API"]

print(http.request("GET", url + "/v1/me").json()["organization"]["name"])

headers = {**http.headers, "Idempotency-Key": str(uuid.uuid4())}
body = {"url": "https://example.com/webhooks", "events": ["*"]}
print(http.request("POST", url + "/v1/webhooks", json=body, headers=headers).json()["id"])

answer = http.request("POST", url + "/v1/webhooks", json={"url": "http://example.com/", "events": ["*"]})
if answer.status >= 400:
    error = answer.json()["error"]
    print(error["code"], error["message"], error["request_id"])
