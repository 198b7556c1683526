"""The walk of the README with the clients that openapi-python-client makes; describe-walk.ts looks at what came of it."""

import os
import time
from datetime import datetime, timedelta, timezone

import internal_client
import public_client
from internal_client.api.api_keys import create_api_key
from internal_client.api.events import emit_events
from internal_client.api.organizations import create_organization, list_organization_deliveries
from internal_client.models import CreateApiKey, CreateOrganization, EmitEvent, EmitEventData, EmittableEventType
from internal_client.models import Plan, Scope
from public_client.api.account import get_me
from public_client.api.deliveries import get_delivery, list_deliveries, retry_delivery
from public_client.api.events import get_event, list_event_types, list_events
from public_client.api.usage import get_usage
from public_client.api.webhooks import create_webhook, delete_webhook, get_webhook, list_webhooks, replay_webhook
from public_client.api.webhooks import rotate_webhook_secret, test_webhook, update_webhook
from public_client.models import CreateWebhook, DeliveryStatus, Error, EventPattern, ReplayRequest
from public_client.models import ReplayRequestStatusItem, RotateSecret, UpdateWebhook

# An answer that the document does not name is an exception.
options = {"raise_on_unexpected_status": True}
internal = internal_client.AuthenticatedClient(os.environ["INTERNAL_URL"], os.environ["INTERNAL_API_SECRET"], **options)

organization = create_organization.sync(client=internal, body=CreateOrganization(name="Walk", plan=Plan.ENTERPRISE))
key = create_api_key.sync(organization.id, client=internal, body=CreateApiKey(name="walk", scopes=[Scope("*")]))
api = public_client.AuthenticatedClient(os.environ["API_URL"], key.secret, **options)


def until(find):
    """What a function finds, once it finds something."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := find():
            return found
        time.sleep(0.1)
    raise TimeoutError()


def until_succeeded(event_id, attempts):
    """The delivery of an event, once it has succeeded after that many attempts."""

    def find():
        page = list_deliveries.sync(client=api, event_id=event_id, status=[DeliveryStatus.SUCCEEDED])
        return next((each for each in page.data if each.attempt_count == attempts), None)

    return until(find)


me = get_me.sync(client=api)
assert me.organization.id == organization.id and me.rate_limit.limit > 0

registration = CreateWebhook(url=os.environ["RECEIVER_URL"], events=[EventPattern("*")])
webhook = create_webhook.sync(client=api, body=registration, idempotency_key="walk-1")
assert create_webhook.sync(client=api, body=registration, idempotency_key="walk-1") == webhook
assert [each.id for each in list_webhooks.sync(client=api).data] == [webhook.id]

test = test_webhook.sync(webhook.id, client=api)
until_succeeded(test.event_id, attempts=1)

occurred_at = datetime.now(timezone.utc) - timedelta(hours=1)
event = EmitEvent(
    organization_id=organization.id,
    type_=EmittableEventType.BATCH_COMPLETED,
    data=EmitEventData.from_dict({"batch_id": "bat_1", "note": "grüße 🎉"}),
    id="bat_1.completed",
    occurred_at=occurred_at,
)
emitted = emit_events.sync(client=internal, body=event, x_actor="walk").data[0]
assert emit_events.sync(client=internal, body=event).data[0].duplicate
delivery = until_succeeded(emitted.id, attempts=1)

detail = get_delivery.sync(delivery.id, client=api)
assert detail.attempts[0].status_code == 200 and "grüße 🎉" in detail.request.body
assert get_event.sync(emitted.id, client=api).data["batch_id"] == "bat_1"
assert abs(get_event.sync(emitted.id, client=api).occurred_at - occurred_at) < timedelta(milliseconds=1)

assert retry_delivery.sync(delivery.id, client=api).id == delivery.id
until_succeeded(emitted.id, attempts=2)

since = datetime.now(timezone.utc) - timedelta(hours=1)
succeeded = ReplayRequest(since=since, status=[ReplayRequestStatusItem.SUCCEEDED])
replay = replay_webhook.sync(webhook.id, client=api, body=succeeded)
assert (replay.matched, replay.has_more) == (1, False), replay
until_succeeded(emitted.id, attempts=3)

rotated = rotate_webhook_secret.sync(webhook.id, client=api, body=RotateSecret(overlap_seconds=60))
assert rotated.secret != webhook.secret
expires_at = get_webhook.sync(webhook.id, client=api).previous_secret_expires_at
assert timedelta() < expires_at - datetime.now(timezone.utc) <= timedelta(seconds=90)
refused = rotate_webhook_secret.sync(webhook.id, client=api)
assert isinstance(refused, Error) and refused.error.code == "conflict"
assert update_webhook.sync(webhook.id, client=api, body=UpdateWebhook(description=None, enabled=True)).description is None

assert {each.type_ for each in list_event_types.sync(client=api).data} >= {"batch.completed", "consultation.failed"}
page = list_events.sync(client=api, since=since, limit=1)
assert page.data[0].id == emitted.id and not page.has_more
# Usage is kept by the hour, and written some seconds later.
hour = since.replace(minute=0, second=0, microsecond=0)
until(lambda: get_usage.sync(client=api, since=hour).totals.requests > 0)
assert [each.id for each in list_organization_deliveries.sync(organization.id, client=internal).data]

invalid = create_webhook.sync(client=api, body=CreateWebhook(url="http://example.com/", events=[EventPattern("*")]))
assert (invalid.error.code, invalid.error.param) == ("url_not_allowed", "url") and invalid.error.request_id
stranger = public_client.AuthenticatedClient(os.environ["API_URL"], "nwk_unknown", **options)
assert get_me.sync(client=stranger).error.code == "unauthorized"

assert delete_webhook.sync_detailed(webhook.id, client=api).status_code == 204
assert get_webhook.sync(webhook.id, client=api).error.code == "not_found"
print("walked", webhook.secret, emitted.id)
