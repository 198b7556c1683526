// The walk of the README with the clients that oapi-codegen makes; describe-walk.ts looks at what came of it.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"walk/internalapi"
	"walk/publicapi"
)

var ctx = context.Background()

func main() {
	internal, err := internalapi.NewClientWithResponses(os.Getenv("INTERNAL_URL"), internalapi.WithRequestEditorFn(bearer(os.Getenv("INTERNAL_API_SECRET"))))
	check(err)
	plan := internalapi.CreateOrganization{Name: "Walk", Plan: "enterprise"}
	organization := must(must(internal.CreateOrganizationWithResponse(ctx, nil, plan)).JSON201, nil)
	rights := internalapi.CreateApiKey{Name: "walk", Scopes: []internalapi.Scope{"*"}}
	key := must(must(internal.CreateApiKeyWithResponse(ctx, organization.Id, nil, rights)).JSON201, nil)
	api, err := publicapi.NewClientWithResponses(os.Getenv("API_URL"), publicapi.WithRequestEditorFn(bearer(key.Secret)))
	check(err)

	me := must(must(api.GetMeWithResponse(ctx)).JSON200, nil)
	expect(me.Organization.Id == organization.Id && me.RateLimit.Limit > 0, me)

	registration := publicapi.CreateWebhook{Url: os.Getenv("RECEIVER_URL"), Events: []publicapi.EventPattern{"*"}}
	once := &publicapi.CreateWebhookParams{IdempotencyKey: pointer("walk-1")}
	webhook := must(must(api.CreateWebhookWithResponse(ctx, once, registration)).JSON201, nil)
	again := must(must(api.CreateWebhookWithResponse(ctx, once, registration)).JSON201, nil)
	expect(again.Id == webhook.Id && again.Secret == webhook.Secret, again)
	webhooks := must(must(api.ListWebhooksWithResponse(ctx, nil)).JSON200, nil)
	expect(len(webhooks.Data) == 1 && webhooks.Data[0].Id == webhook.Id, webhooks)

	test := must(must(api.TestWebhookWithResponse(ctx, webhook.Id, nil)).JSON202, nil)
	untilSucceeded(api, test.EventId, 1)

	emitted := emit(internal, organization.Id)
	delivery := untilSucceeded(api, emitted, 1)
	detail := must(must(api.GetDeliveryWithResponse(ctx, delivery)).JSON200, nil)
	expect(*detail.Attempts[0].StatusCode == 200 && strings.Contains(*detail.Request.Body, "grüße 🎉"), detail)
	event := must(must(api.GetEventWithResponse(ctx, emitted)).JSON200, nil)
	expect(event.Data["batch_id"] == "bat_1" && event.OccurredAt != nil, event)

	retried := must(must(api.RetryDeliveryWithResponse(ctx, delivery, nil)).JSON202, nil)
	expect(retried.Id == delivery, retried)
	untilSucceeded(api, emitted, 2)
	since := time.Now().Add(-time.Hour)
	succeeded := publicapi.ReplayRequest{Since: since, Status: &[]publicapi.ReplayRequestStatus{"succeeded"}}
	replay := must(must(api.ReplayWebhookWithResponse(ctx, webhook.Id, nil, succeeded)).JSON202, nil)
	expect(replay.Matched == 1 && !replay.HasMore, replay)
	untilSucceeded(api, emitted, 3)

	rotate(api, webhook)
	list(api, emitted, since)
	refuse(api)

	expect(must(api.DeleteWebhookWithResponse(ctx, webhook.Id, nil)).StatusCode() == 204, webhook)
	gone := must(must(api.GetWebhookWithResponse(ctx, webhook.Id, nil)).JSON404, nil)
	expect(gone.Error.Code == "not_found", gone)
	fmt.Println("walked", webhook.Secret, emitted)
}

func emit(internal *internalapi.ClientWithResponses, organizationId string) string {
	var request internalapi.EmitRequest
	check(request.FromEmitEvent(internalapi.EmitEvent{
		OrganizationId: organizationId,
		Type:           "batch.completed",
		Data:           map[string]any{"batch_id": "bat_1", "note": "grüße 🎉"},
		Id:             pointer("bat_1.completed"),
		OccurredAt:     pointer(time.Now().Add(-time.Hour)),
	}))
	emitted := must(must(internal.EmitEventsWithResponse(ctx, &internalapi.EmitEventsParams{XActor: pointer("walk")}, request)).JSON202, nil)
	repeated := must(must(internal.EmitEventsWithResponse(ctx, nil, request)).JSON202, nil)
	expect(repeated.Data[0].Duplicate && repeated.Data[0].Id == emitted.Data[0].Id, repeated)
	return emitted.Data[0].Id
}

// untilSucceeded returns the delivery of an event, once it has succeeded after that many attempts.
func untilSucceeded(api *publicapi.ClientWithResponses, eventId string, attempts int) string {
	params := &publicapi.ListDeliveriesParams{EventId: &eventId, Status: &[]publicapi.DeliveryStatus{"succeeded"}}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		page := must(must(api.ListDeliveriesWithResponse(ctx, params)).JSON200, nil)
		if len(page.Data) == 1 && page.Data[0].AttemptCount == attempts {
			return page.Data[0].Id
		}
	}
	panic("no delivery of " + eventId + " has succeeded")
}

func rotate(api *publicapi.ClientWithResponses, webhook *publicapi.WebhookWithSecret) {
	overlap := publicapi.RotateSecret{OverlapSeconds: pointer(60)}
	rotated := must(must(api.RotateWebhookSecretWithResponse(ctx, webhook.Id, nil, overlap)).JSON200, nil)
	expect(rotated.Secret != webhook.Secret, rotated)
	found := must(must(api.GetWebhookWithResponse(ctx, webhook.Id, nil)).JSON200, nil)
	expect(found.PreviousSecretExpiresAt != nil, found)
	refused := must(must(api.RotateWebhookSecretWithResponse(ctx, webhook.Id, nil, overlap)).JSON409, nil)
	expect(refused.Error.Code == "conflict", refused)
	enabled := publicapi.UpdateWebhook{Enabled: pointer(true), Description: pointer("walked")}
	updated := must(must(api.UpdateWebhookWithResponse(ctx, webhook.Id, nil, enabled)).JSON200, nil)
	expect(*updated.Description == "walked", updated)
}

func list(api *publicapi.ClientWithResponses, emitted string, since time.Time) {
	types := must(must(api.ListEventTypesWithResponse(ctx, nil)).JSON200, nil)
	expect(len(types.Data) >= 5, types)
	events := must(must(api.ListEventsWithResponse(ctx, &publicapi.ListEventsParams{Since: &since})).JSON200, nil)
	expect(len(events.Data) == 1 && events.Data[0].Id == emitted, events)
	// Usage is kept by the hour, and written some seconds later.
	hour := since.Truncate(time.Hour)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		usage := must(must(api.GetUsageWithResponse(ctx, &publicapi.GetUsageParams{Since: &hour})).JSON200, nil)
		if usage.Totals.Requests > 0 {
			return
		}
		expect(time.Now().Before(deadline), usage)
	}
}

func refuse(api *publicapi.ClientWithResponses) {
	plain := publicapi.CreateWebhook{Url: "http://example.com/", Events: []publicapi.EventPattern{"*"}}
	invalid := must(must(api.CreateWebhookWithResponse(ctx, nil, plain)).JSON400, nil)
	expect(invalid.Error.Code == "url_not_allowed" && *invalid.Error.Param == "url", invalid)
	stranger := must(must(api.GetMeWithResponse(ctx, bearer("nwk_unknown"))).JSON401, nil)
	expect(stranger.Error.Code == "unauthorized", stranger)
}

func bearer(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

// must returns an answer of the status that was asked for: the field of any other is nil.
func must[Answer any](answer *Answer, err error) *Answer {
	check(err)
	if answer == nil {
		panic("an answer of another status")
	}
	return answer
}

func expect(holds bool, answer any) {
	if !holds {
		panic(fmt.Sprintf("%+v", answer))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func pointer[Value any](value Value) *Value { return &value }
