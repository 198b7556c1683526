import os
import time
import uuid

import httpx

api = httpx.Client(base_url=os.environ["API"], headers={"Authorization": "Bearer " + os.environ["API_KEY"]}, timeout=60)


def call(method, path, **options):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    for _ in range(4):
        answer = api.request(method, path, headers=headers, **options)
        if answer.status_code not in (429, 503):
            break
        time.sleep(int(answer.headers.get("Retry-After", "1")))
    answer.raise_for_status()
    return answer.json() if answer.content else None


print(call("GET", "/v1/me")["organization"]["name"])
print(call("POST", "/v1/webhooks", json={"url": "https://example.com/webhooks", "events": ["*"]})["id"])
try:
    call("POST", "/v1/webhooks", json={"url": "http://example.com/", "events": ["*"]})
except httpx.HTTPStatusError as failure:
    error = failure.response.json()["error"]
    print(error["code"], error["message"], error["request_id"])
