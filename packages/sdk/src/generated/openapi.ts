// Made from docs/openapi.json by `npm run openapi`. Not to be changed by hand.

export interface paths {
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description One HTTP request to a webhook's URL. */
        Attempt: {
            id: string;
            number: number;
            /** @description Whether the delivery had moved on when the attempt came to its end. */
            superseded: boolean;
            /**
             * @description The retry schedule, or a test, a retry or a replay.
             * @enum {string}
             */
            trigger: "scheduled" | "manual";
            /** Format: date-time */
            started_at: string;
            duration_ms: number;
            status_code: number | null;
            error: components["schemas"]["AttemptError"] | null;
            /** @description What the receiver's owner can act on. */
            error_message: string | null;
            /** @description The first 4 KiB of a body that is text. */
            response_body: string | null;
            url: string;
            /** @description Null where a connection was reused. */
            timings: {
                dns_ms: number | null;
                connect_ms: number | null;
                tls_ms: number | null;
                first_byte_ms: number | null;
            };
        };
        /**
         * @description Why an attempt did not succeed.
         * @enum {string}
         */
        AttemptError: "timeout" | "dns_failed" | "connection_refused" | "connection_reset" | "tls_failed" | "destination_blocked" | "redirect" | "http_error" | "response_invalid" | "secret_unavailable";
        /** @description All items in a batch completed. */
        BatchCompletedEvent: {
            id: string;
            /** @constant */
            type: "batch.completed";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        /** @description A batch failed entirely. */
        BatchFailedEvent: {
            id: string;
            /** @constant */
            type: "batch.failed";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        /** @description A batch completed with some failed items. */
        BatchPartialFailureEvent: {
            id: string;
            /** @constant */
            type: "batch.partial_failure";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        /** @description A consultation finished successfully. */
        ConsultationCompletedEvent: {
            id: string;
            /** @constant */
            type: "consultation.completed";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                consultation_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        /** @description A consultation failed. */
        ConsultationFailedEvent: {
            id: string;
            /** @constant */
            type: "consultation.failed";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                consultation_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        CreateWebhook: {
            /** @description Where deliveries go: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters. */
            url: string;
            /** @description The events that the webhook gets. */
            events: components["schemas"]["EventPattern"][];
            /** @description The owner's own note. */
            description?: string | null;
            /** @description Whether new events are delivered. */
            enabled?: boolean;
        };
        /** @description One event on its way to one webhook. */
        Delivery: {
            id: string;
            /** @constant */
            object: "delivery";
            webhook_id: string;
            event_id: string;
            event_type: components["schemas"]["EventTypeName"];
            status: components["schemas"]["DeliveryStatus"];
            attempt_count: number;
            max_attempts: number;
            /**
             * Format: date-time
             * @description When the next attempt is due; null when there will be none.
             */
            next_attempt_at: string | null;
            /** @description What it waits for; null unless it is pending. */
            waiting_for: components["schemas"]["WaitingReason"] | null;
            last_status_code: number | null;
            last_error: components["schemas"]["AttemptError"] | null;
            last_duration_ms: number | null;
            /** @description Whether its event is a test: one attempt, without an effect on the health of the webhook. */
            test: boolean;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it succeeded, failed or was canceled.
             */
            completed_at: string | null;
        };
        /** @description A delivery with its attempts and its request. */
        DeliveryDetail: {
            id: string;
            /** @constant */
            object: "delivery";
            webhook_id: string;
            event_id: string;
            event_type: components["schemas"]["EventTypeName"];
            status: components["schemas"]["DeliveryStatus"];
            attempt_count: number;
            max_attempts: number;
            /**
             * Format: date-time
             * @description When the next attempt is due; null when there will be none.
             */
            next_attempt_at: string | null;
            /** @description What it waits for; null unless it is pending. */
            waiting_for: components["schemas"]["WaitingReason"] | null;
            last_status_code: number | null;
            last_error: components["schemas"]["AttemptError"] | null;
            last_duration_ms: number | null;
            /** @description Whether its event is a test: one attempt, without an effect on the health of the webhook. */
            test: boolean;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it succeeded, failed or was canceled.
             */
            completed_at: string | null;
            /** @description The newest first. */
            attempts: components["schemas"]["Attempt"][];
            /** @description The request as it is sent, without its signatures. */
            request: {
                headers: {
                    [key: string]: string;
                };
                /** @description The exact text; null once its event is past retention. */
                body: string | null;
            };
        };
        /** @description A page of a list. */
        DeliveryList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Delivery"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description How often and how long a delivery is tried, and how long its history is stored. */
        DeliveryPolicy: {
            /** @constant */
            object: "delivery_policy";
            /** @description The time of one attempt: DNS, connection, TLS, request and answer. */
            timeout_ms: number;
            /** @description The delays between the attempts of a delivery. */
            schedule_ms: number[];
            /** @description Each delay is multiplied by a random number between 1 and 1 + `jitter`. */
            jitter: number;
            /** @description The number of attempts: one more than there are delays. */
            max_attempts: number;
            /** @description A webhook is disabled as `failing` after this time without a success. */
            disable_after_ms: number;
            /** @description A webhook is disabled as `failing` only after this many failed attempts. */
            disable_after_attempts: number;
            /** @description How long the bodies of events are stored; null: for ever. */
            body_retention_seconds: number | null;
            /** @description How long events, deliveries and attempts are stored; null: for ever. */
            history_retention_seconds: number | null;
        };
        /**
         * @description `pending` waits for an attempt, the first or the next. The others are final until a retry or a replay.
         * @enum {string}
         */
        DeliveryStatus: "pending" | "succeeded" | "failed" | "canceled";
        /**
         * @description Why a webhook is disabled: by its owner, as failing, or because its endpoint answered 410 (`gone`).
         * @enum {string}
         */
        DisabledReason: "manual" | "failing" | "gone";
        /**
         * @description A type of event that webhooks can subscribe to.
         * @enum {string}
         */
        EmittableEventType: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure";
        /** @description The body of every error. */
        Error: {
            error: {
                type: components["schemas"]["ErrorType"];
                code: components["schemas"]["ErrorCode"];
                /** @description What went wrong, for people. Its wording may change. */
                message: string;
                /** @description `X-Request-Id` of the answer. Name it when you ask for help. */
                request_id: string;
                /** @description Of an invalid request: the first field that is wrong. */
                param?: string;
                /** @description Of an invalid request: everything that is wrong. */
                details?: components["schemas"]["ErrorDetail"][];
                /** @description Of `forbidden_scope`: the scope that the key lacks. */
                required_scope?: string;
                /** @description Of `rate_limited`: seconds to wait, as in `Retry-After`. */
                retry_after?: number;
            };
        };
        /**
         * @description What went wrong, for programs.
         * @enum {string}
         */
        ErrorCode: "unauthorized" | "ip_not_allowed" | "plan_no_api_access" | "forbidden_scope" | "rate_limited" | "invalid_json" | "validation_failed" | "invalid_cursor" | "url_not_allowed" | "malformed_request" | "not_found" | "method_not_allowed" | "conflict" | "limit_reached" | "idempotency_in_progress" | "event_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "request_timeout" | "upstream_unavailable" | "upstream_timeout" | "internal_error" | "service_unavailable";
        /** @description One problem of a request: its place and its cause. */
        ErrorDetail: {
            /** @enum {string} */
            location: "body" | "query" | "path" | "header";
            /** @description The field, parameter or header; empty for the whole. */
            path: string;
            /** @description What is wrong, for programs: `required`, `too_big`, `unknown_field`, … */
            code: string;
            /** @description What is wrong, for people. It goes on after the path. */
            message: string;
        };
        /**
         * @description What kind of remedy there is.
         * @enum {string}
         */
        ErrorType: "authentication_error" | "permission_error" | "invalid_request_error" | "rate_limit_error" | "api_error";
        /** @description A fact that happened, which webhooks are told of. */
        Event: {
            id: string;
            /** @constant */
            object: "event";
            type: components["schemas"]["EmittableEventType"];
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description As its producer gave it; null when it gave none.
             */
            occurred_at: string | null;
            /** @description As it was emitted; null once its body is past retention. */
            data: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The body of a delivery. */
        EventBody: components["schemas"]["ConsultationCompletedEvent"] | components["schemas"]["ConsultationFailedEvent"] | components["schemas"]["BatchCompletedEvent"] | components["schemas"]["BatchFailedEvent"] | components["schemas"]["BatchPartialFailureEvent"] | components["schemas"]["WebhookTestEvent"];
        /** @description A page of a list. */
        EventList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Event"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /**
         * @description A type of event, a family of types, or `*` for all types of consultations and batches.
         * @enum {string}
         */
        EventPattern: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "consultation.*" | "batch.*" | "*";
        /** @description A type of event that webhooks can subscribe to, with the shape of its deliveries. */
        EventTypeEntry: {
            /** @constant */
            object: "event_type";
            type: components["schemas"]["EventTypeName"];
            description: string;
            /** @description JSON Schema (draft 2020-12) of the body of a delivery. */
            schema: {
                [key: string]: unknown;
            };
            /** @description A body of a delivery. */
            example: components["schemas"]["EventBody"];
        };
        /** @description A page of a list. */
        EventTypeEntryList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["EventTypeEntry"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /**
         * @description The type of an event. `webhook.test` is sent by the test endpoint alone.
         * @enum {string}
         */
        EventTypeName: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.test";
        /** @description The key of the caller, and its organization. */
        Me: {
            /** @constant */
            object: "me";
            organization: {
                id: string;
                name: string;
                plan: components["schemas"]["Plan"];
            };
            key: {
                id: string;
                name: string;
                /** @description The beginning of the key, by which its owner knows it. */
                key_prefix: string;
                scopes: components["schemas"]["Scope"][];
                ip_allowlist: string[] | null;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                expires_at: string | null;
                /** Format: date-time */
                last_used_at: string | null;
            };
            /** @description What the key may do; the same as `key.scopes`. */
            scopes: components["schemas"]["Scope"][];
            rate_limit: components["schemas"]["RateLimit"];
        };
        /**
         * @description The plan of an organization. `starter` has no API access.
         * @enum {string}
         */
        Plan: "starter" | "pro" | "business" | "enterprise";
        /** @description The rate limit of an organization's plan. */
        RateLimit: {
            /** @description Requests that the organization may make in each window. */
            limit: number;
            window_seconds: number;
        };
        /** @description What a replay set going. */
        Replay: {
            /** @constant */
            object: "replay";
            /** @description How many deliveries are sent again by this request. */
            matched: number;
            /** @description Whether there were more than one replay takes. */
            has_more: boolean;
        };
        ReplayRequest: {
            /**
             * Format: date-time
             * @description Only deliveries that were created at this time or later.
             */
            since: string;
            /**
             * Format: date-time
             * @description Only what was created before this time.
             */
            until?: string;
            /**
             * @description Which deliveries are sent again.
             * @default [
             *       "failed",
             *       "canceled"
             *     ]
             */
            status?: ("failed" | "canceled" | "succeeded")[];
        };
        RotateSecret: {
            /**
             * @description For how many seconds deliveries are signed with the old secret too.
             * @default 86400
             */
            overlap_seconds?: number;
            /**
             * @description Whether to end an overlap that is still open.
             * @default false
             */
            force?: boolean;
        };
        /**
         * @description A permission of a key. `*` grants every other scope.
         * @enum {string}
         */
        Scope: "me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*";
        /** @description The addresses from which deliveries come, for the firewall of a receiver. */
        SourceAddresses: {
            /** @constant */
            object: "source_addresses";
            /** @description The addresses and CIDRs from which deliveries come; null if the operator has named none. */
            addresses: string[] | null;
        };
        TestWebhook: {
            /**
             * @description The type of the event that is sent.
             * @default webhook.test
             */
            type?: components["schemas"]["EventTypeName"];
        };
        /** @description The fields to change; the others stay as they are. */
        UpdateWebhook: {
            /** @description Where deliveries go: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters. */
            url?: string;
            /** @description The events that the webhook gets. */
            events?: components["schemas"]["EventPattern"][];
            /** @description The owner's own note. */
            description?: string | null;
            /** @description Whether new events are delivered. */
            enabled?: boolean;
        };
        /** @description What an organization used in a period, oldest first; hours, days and months without usage are left out. */
        Usage: {
            /** @constant */
            object: "usage";
            organization_id: string;
            plan: components["schemas"]["Plan"];
            rate_limit: components["schemas"]["RateLimit"];
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            /** @enum {string} */
            granularity: "hour" | "day" | "month";
            data: {
                /**
                 * Format: date-time
                 * @description When the hour, day or month begins, UTC, even when `since` is later.
                 */
                start: string;
                /** @description With `group_by=key`; null for events, deliveries and attempts, which no key made. */
                key_id?: string | null;
                /**
                 * @description With `group_by=area`; events, deliveries and attempts stand under `webhooks`.
                 * @enum {string}
                 */
                area?: "consultations" | "batches" | "panels" | "usage" | "automations" | "chat" | "scim" | "webhooks" | "me";
                /** @description Requests with a known key, `refused` included. */
                requests: number;
                /** @description Requests that were answered 403 or 429 here. */
                refused: number;
                /** @description Bytes of request bodies. */
                bytes_in: number;
                /** @description Bytes of answer bodies. */
                bytes_out: number;
                events: number;
                deliveries: number;
                attempts: number;
            }[];
            totals: {
                /** @description Requests with a known key, `refused` included. */
                requests: number;
                /** @description Requests that were answered 403 or 429 here. */
                refused: number;
                /** @description Bytes of request bodies. */
                bytes_in: number;
                /** @description Bytes of answer bodies. */
                bytes_out: number;
                events: number;
                deliveries: number;
                attempts: number;
            };
        };
        /**
         * @description What a pending delivery waits for: a worker has leased it and will send it (`lease`), its webhook fails at the moment (`circuit_open`), its due time (`schedule`), or a worker (`capacity`).
         * @enum {string}
         */
        WaitingReason: "lease" | "circuit_open" | "schedule" | "capacity";
        /** @description A customer's registered URL, with the events it subscribes to and its state. */
        Webhook: {
            id: string;
            /** @constant */
            object: "webhook";
            url: string;
            events: string[];
            description: string | null;
            enabled: boolean;
            disabled_reason: components["schemas"]["DisabledReason"] | null;
            /**
             * Format: date-time
             * @description Since when no delivery has succeeded; null when the last one did.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it will be disabled, if no delivery succeeds until then.
             */
            disable_at: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before the last rotation is in use too; null when only one is.
             */
            previous_secret_expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description A page of a list. */
        WebhookList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Webhook"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description Sent by the test endpoint to one webhook alone; no webhook can subscribe to it. */
        WebhookTestEvent: {
            id: string;
            /** @constant */
            type: "webhook.test";
            /** Format: date-time */
            timestamp: string;
            organization_id: string;
            data: {
                webhook_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests; other events have no such field. */
            test?: boolean;
        };
        /** @description A webhook with its secret, which no other answer shows. */
        WebhookWithSecret: {
            id: string;
            /** @constant */
            object: "webhook";
            url: string;
            events: string[];
            description: string | null;
            enabled: boolean;
            disabled_reason: components["schemas"]["DisabledReason"] | null;
            /**
             * Format: date-time
             * @description Since when no delivery has succeeded; null when the last one did.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it will be disabled, if no delivery succeeds until then.
             */
            disable_at: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before the last rotation is in use too; null when only one is.
             */
            previous_secret_expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Signs the deliveries: `whsec_` and 32 random bytes in base64. */
            secret: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listEvents: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description The newest first (`desc`), or the oldest (`asc`): every page then has a `next_cursor`, the last and an empty one too. */
                order?: "asc" | "desc";
                type?: components["schemas"]["EmittableEventType"][];
                /** @description Only what was created at this time or later. */
                since?: string;
                /** @description Only what was created before this time. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description A whole hour in UTC; the beginning of this month by default. */
                since?: string;
                /** @description A whole hour in UTC; the end of this month by default. */
                until?: string;
                /** @description At most 1,000 hours, days or months in one answer. */
                granularity?: "hour" | "day" | "month";
                /** @description What the usage of each hour, day or month is divided by. */
                group_by?: "key" | "area";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Only webhooks that are enabled, or only those that are not. */
                enabled?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description By `created_at`: the newest first (`desc`), or the oldest (`asc`). */
                order?: "asc" | "desc";
                /** @example whk_01jd6kz5r8e2v9qxm3c7t4b0na */
                webhook_id?: string;
                /** @example evt_01jd6kz5r8e2v9qxm3c7t4b0na */
                event_id?: string;
                event_type?: components["schemas"]["EventTypeName"][];
                status?: components["schemas"]["DeliveryStatus"][];
                /** @description Only what was created at this time or later. */
                since?: string;
                /** @description Only what was created before this time. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
