// Made from docs/openapi.json by `npm run openapi`. Not to be changed by hand.

export interface paths {
    "/v1/console-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConsoleSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOwnErasures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
    "/v1/events/{event_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["explainEvent"];
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
    "/v1/webhooks/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookStatistics"];
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
        /** @description An API key has expired. */
        ApiKeyExpiredEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "api_key.expired";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The API key. */
                api_key: {
                    /** @description Id of the API key. */
                    id: string;
                    /** @description A name for people. */
                    name: string;
                    /** @description The visible beginning of the key. */
                    key_prefix: string;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * Format: date-time
                 * @description When it expires.
                 */
                expires_at: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description An API key expires in 7 days; again one day before. */
        ApiKeyExpiringEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "api_key.expiring";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The API key. */
                api_key: {
                    /** @description Id of the API key. */
                    id: string;
                    /** @description A name for people. */
                    name: string;
                    /** @description The visible beginning of the key. */
                    key_prefix: string;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * Format: date-time
                 * @description When it expires.
                 */
                expires_at: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description One HTTP request to a webhook's URL. */
        Attempt: {
            /** @description Id of the attempt. */
            id: string;
            /** @description Counts the attempts of the delivery, from 1. */
            number: number;
            /** @description Whether the delivery had changed before the attempt ended: its outcome then has no effect. */
            superseded: boolean;
            /**
             * @description What caused the attempt: the retry schedule (`scheduled`), a test, a retry or a replay (`manual`), or `auto_recover` (`probe`).
             * @enum {string}
             */
            trigger: "scheduled" | "manual" | "probe";
            /**
             * Format: date-time
             * @description When the attempt began.
             */
            started_at: string;
            /** @description How long it took, in milliseconds. */
            duration_ms: number;
            /** @description The status of the answer; null if there was none. */
            status_code: number | null;
            /** @description Why the attempt failed; null if it succeeded. */
            error: components["schemas"]["AttemptError"] | null;
            /** @description The cause of the failure, in words, for the owner of the receiver. */
            error_message: string | null;
            /** @description The first 4 KiB of a body that is text. */
            response_body: string | null;
            /** @description Of the answer to a failed attempt: `content-type`, `content-length`, `date`, `server`, `retry-after`, `location` (without its query), `www-authenticate` and `x-request-id`, at most 2 KiB. Null if the attempt succeeded or got no answer. */
            response_headers: {
                [key: string]: string;
            } | null;
            /** @description The IP address of the receiver, if the attempt failed after it connected. */
            remote_address: string | null;
            /** @description Where the request went; null if the organization is closed. */
            url: string | null;
            /** @description How long each part took, in milliseconds; null for parts that a reused connection skips. */
            timings: {
                /** @description Resolving the host name. */
                dns_ms: number | null;
                /** @description Connecting, without TLS. */
                connect_ms: number | null;
                /** @description The TLS handshake. */
                tls_ms: number | null;
                /** @description From sending the request to the first byte of the answer. */
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
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "batch.completed";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the batch. */
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A batch failed entirely. */
        BatchFailedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "batch.failed";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the batch. */
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A batch completed with some failed items. */
        BatchPartialFailureEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "batch.partial_failure";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the batch. */
                batch_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description The right of a person to use the console for a while. */
        ConsoleSession: {
            /** @description Id of the console session. */
            id: string;
            /**
             * @description Always `console_session`.
             * @constant
             */
            object: "console_session";
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * Format: date-time
             * @description When the link stops working.
             */
            link_expires_at: string;
            /**
             * Format: date-time
             * @description When the session ends.
             */
            expires_at: string;
            /** @description The permissions of the session. */
            scopes: ("me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*" | "keys:read" | "keys:write")[];
            /** @description The page that opens first. */
            path: string;
            /** @description Whether the session shows bodies of events and answers. */
            show_bodies: boolean;
            /** @description A name for the person who uses the session. */
            label: string | null;
            /** @description Addresses and CIDRs that the session may be used from; null: the allowlist of its key applies, if it has one. */
            ip_allowlist: string[] | null;
            /**
             * Format: date-time
             * @description When the link was made.
             */
            created_at: string;
            /**
             * @description `open`: the link was not used yet.
             * @enum {string}
             */
            state: "open" | "entered" | "ended";
            /**
             * Format: date-time
             * @description When the link was used; null: not yet.
             */
            entered_at: string | null;
            /**
             * Format: date-time
             * @description When the session ended; null: it has not ended.
             */
            ended_at: string | null;
        };
        /** @description A page of a list. */
        ConsoleSessionList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["ConsoleSession"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description A new console session, with its link. */
        ConsoleSessionWithUrl: {
            /** @description Id of the console session. */
            id: string;
            /**
             * @description Always `console_session`.
             * @constant
             */
            object: "console_session";
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * Format: date-time
             * @description When the link stops working.
             */
            link_expires_at: string;
            /**
             * Format: date-time
             * @description When the session ends.
             */
            expires_at: string;
            /** @description The permissions of the session. */
            scopes: ("me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*" | "keys:read" | "keys:write")[];
            /** @description The page that opens first. */
            path: string;
            /** @description Whether the session shows bodies of events and answers. */
            show_bodies: boolean;
            /** @description A name for the person who uses the session. */
            label: string | null;
            /** @description Addresses and CIDRs that the session may be used from; null: the allowlist of its key applies, if it has one. */
            ip_allowlist: string[] | null;
            /**
             * Format: date-time
             * @description When the link was made.
             */
            created_at: string;
            /** @description The link. It works once; only this answer shows it. */
            url: string;
        };
        /** @description A consultation finished successfully. */
        ConsultationCompletedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "consultation.completed";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the consultation. */
                consultation_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A consultation failed. */
        ConsultationFailedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "consultation.failed";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the consultation. */
                consultation_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        CreateConsoleSession: {
            /** @description The permissions of the session. */
            scopes?: ("me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*" | "keys:read" | "keys:write")[];
            /** @description The page that opens first, below `/console/{organization}`. */
            path?: string;
            /**
             * @description How long the session lasts, in seconds.
             * @default 3600
             */
            expires_in?: number;
            /**
             * @description How long the link may be used, in seconds.
             * @default 120
             */
            link_expires_in?: number;
            /**
             * @description Whether the session shows bodies of events and answers.
             * @default true
             */
            show_bodies?: boolean;
            /** @description A name for the person who will use the session. */
            label?: string;
            /** @description Addresses and CIDRs that the session may be used from. Default: the allowlist of the key. */
            ip_allowlist?: string[];
        };
        CreateWebhook: {
            /** @description Where deliveries are sent: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters. */
            url: string;
            /** @description The types and wildcards that the webhook subscribes to. */
            events: components["schemas"]["EventPattern"][];
            /** @description The owner's own note. */
            description?: string | null;
            /** @description Whether new events are delivered. */
            enabled?: boolean;
            /** @description At most this many attempts start in a second; null: no limit. Tests are exempt. */
            rate_limit_per_second?: number | null;
            /** @description At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt. */
            max_in_flight?: number | null;
            /** @description Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`. */
            auto_recover?: boolean;
            /** @description Headers that every delivery carries, for a gateway before your receiver: at most 10. No answer shows their values. Headers that we set ourselves are reserved. A new `url` of another origin needs them again. */
            headers?: {
                [key: string]: string;
            };
        };
        /** @description One event on its way to one webhook. */
        Delivery: {
            /** @description Id of the delivery. */
            id: string;
            /**
             * @description Always `delivery`.
             * @constant
             */
            object: "delivery";
            /** @description Id of the webhook. */
            webhook_id: string;
            /** @description Id of the event. */
            event_id: string;
            /** @description The type of the event. */
            event_type: components["schemas"]["EventTypeName"];
            /** @description The subject of the event, such as its `consultation_id` or its `batch_id`. Null in tests. */
            subject: string | null;
            /** @description The state of the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Why it was canceled: `webhook_disabled` (by its owner, automatically or by a 410), `webhook_deleted`, `replay_canceled`, `probe_canceled`, `erased` or `organization_closed`. Expect further reasons. Null unless it is canceled. */
            canceled_reason: string | null;
            /** @description How many attempts were made. */
            attempt_count: number;
            /** @description How many attempts the retry schedule allows. */
            max_attempts: number;
            /**
             * Format: date-time
             * @description When the next attempt is due; null when there will be none.
             */
            next_attempt_at: string | null;
            /** @description What it waits for; null unless it is pending. */
            waiting_for: components["schemas"]["WaitingReason"] | null;
            /** @description The status of the last answer; null if there was none. */
            last_status_code: number | null;
            /** @description Why the last attempt failed; null if it succeeded. */
            last_error: components["schemas"]["AttemptError"] | null;
            /** @description How long the last attempt took, in milliseconds. */
            last_duration_ms: number | null;
            /** @description Whether its event is a test, which does not affect the health of the webhook. */
            test: boolean;
            /**
             * Format: date-time
             * @description When the delivery was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it succeeded, failed or was canceled.
             */
            completed_at: string | null;
        };
        /** @description A delivery with its attempts and its request. */
        DeliveryDetail: {
            /** @description Id of the delivery. */
            id: string;
            /**
             * @description Always `delivery`.
             * @constant
             */
            object: "delivery";
            /** @description Id of the webhook. */
            webhook_id: string;
            /** @description Id of the event. */
            event_id: string;
            /** @description The type of the event. */
            event_type: components["schemas"]["EventTypeName"];
            /** @description The subject of the event, such as its `consultation_id` or its `batch_id`. Null in tests. */
            subject: string | null;
            /** @description The state of the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Why it was canceled: `webhook_disabled` (by its owner, automatically or by a 410), `webhook_deleted`, `replay_canceled`, `probe_canceled`, `erased` or `organization_closed`. Expect further reasons. Null unless it is canceled. */
            canceled_reason: string | null;
            /** @description How many attempts were made. */
            attempt_count: number;
            /** @description How many attempts the retry schedule allows. */
            max_attempts: number;
            /**
             * Format: date-time
             * @description When the next attempt is due; null when there will be none.
             */
            next_attempt_at: string | null;
            /** @description What it waits for; null unless it is pending. */
            waiting_for: components["schemas"]["WaitingReason"] | null;
            /** @description The status of the last answer; null if there was none. */
            last_status_code: number | null;
            /** @description Why the last attempt failed; null if it succeeded. */
            last_error: components["schemas"]["AttemptError"] | null;
            /** @description How long the last attempt took, in milliseconds. */
            last_duration_ms: number | null;
            /** @description Whether its event is a test, which does not affect the health of the webhook. */
            test: boolean;
            /**
             * Format: date-time
             * @description When the delivery was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it succeeded, failed or was canceled.
             */
            completed_at: string | null;
            /** @description The attempts, the newest first. */
            attempts: components["schemas"]["Attempt"][];
            /** @description The request as it is sent, without its signatures. */
            request: {
                /** @description The headers, without the signatures. */
                headers: {
                    [key: string]: string;
                };
                /** @description The exact text; null once its event is past retention. */
                body: string | null;
            };
        };
        /** @description A page of a list. */
        DeliveryList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["Delivery"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Only in answers to a search, which takes at most a second. The search compared all items down to this `created_at`, or up to it with `order=asc`. Null: it compared the whole list or, if `has_more` is true, nothing. Continue with `next_cursor`, also after an empty page.
             */
            searched_until?: string | null;
        };
        /** @description How often and how long a delivery is tried, and how long its history is stored. */
        DeliveryPolicy: {
            /**
             * @description Always `delivery_policy`.
             * @constant
             */
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
            /** @description How long the data of events and the answers of receivers are stored; null: for ever. */
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
        /** @description The receipt of an erasure. It holds no erased value. */
        Erasure: {
            /** @description Id of the erasure; null for a dry run. */
            id: string | null;
            /**
             * @description Always `erasure`.
             * @constant
             */
            object: "erasure";
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * @description `running`, or `completed`: no process, stream or replica shows the data any more.
             * @enum {string}
             */
            state: "running" | "completed";
            /** @description The selection, without its value. */
            selection: {
                /**
                 * @description How the events were selected.
                 * @enum {string}
                 */
                kind: "subject" | "event_ids" | "before" | "all";
                /** @description SHA-256 of `organization_id`, `:` and a value. The value is the subject, or the distinct event ids, sorted and joined by `,`, or the time in RFC 3339, UTC, with milliseconds, or `all`. */
                sha256: string;
            };
            /** @description Why, as the caller said; null if the caller did not say. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was requested. It covers events that were accepted before.
             */
            requested_at: string;
            /**
             * Format: date-time
             * @description When it was completed; null while it runs.
             */
            completed_at: string | null;
            /** @description The numbers of erased things so far. */
            counts: {
                /** @description Events that were erased. */
                events: number;
                /** @description Bodies of events that were deleted. */
                bodies: number;
                /** @description Attempts whose response was deleted. */
                responses: number;
                /** @description Pending deliveries that were canceled. */
                deliveries_canceled: number;
                /** @description Events that were still in the queue. */
                queued: number;
            };
        };
        /** @description A page of a list. */
        ErasureList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["Erasure"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description The body of every error. */
        Error: {
            /** @description The error. */
            error: {
                /** @description The kind of error. */
                type: components["schemas"]["ErrorType"];
                /** @description The code of the error, for programs. */
                code: components["schemas"]["ErrorCode"];
                /** @description The cause, for people. Its wording may change. */
                message: string;
                /** @description `X-Request-Id` of the answer. Name it when you ask for help. */
                request_id: string;
                /** @description For an invalid request: the first field that is wrong. */
                param?: string;
                /** @description For an invalid request: everything that is wrong. */
                details?: components["schemas"]["ErrorDetail"][];
                /** @description For `forbidden_scope`: the scope that the key lacks. */
                required_scope?: string;
                /** @description For `rate_limited`: seconds to wait, as in `Retry-After`. */
                retry_after?: number;
            };
        };
        /**
         * @description The cause of an error, for programs.
         * @enum {string}
         */
        ErrorCode: "unauthorized" | "ip_not_allowed" | "plan_no_api_access" | "forbidden_scope" | "forbidden_origin" | "bodies_hidden" | "rate_limited" | "invalid_json" | "validation_failed" | "invalid_cursor" | "url_not_allowed" | "malformed_request" | "not_found" | "method_not_allowed" | "conflict" | "limit_reached" | "idempotency_in_progress" | "event_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "request_timeout" | "upstream_unavailable" | "upstream_timeout" | "internal_error" | "service_unavailable";
        /** @description One problem of a request: its place and its cause. */
        ErrorDetail: {
            /**
             * @description The part of the request.
             * @enum {string}
             */
            location: "body" | "query" | "path" | "header";
            /** @description The field, parameter or header; empty for the whole. */
            path: string;
            /** @description The cause, for programs: `required`, `too_big`, `unknown_field`, … */
            code: string;
            /** @description The cause, for people. Read it after the path. */
            message: string;
        };
        /**
         * @description The kind of error. Errors of one kind need the same remedy.
         * @enum {string}
         */
        ErrorType: "authentication_error" | "permission_error" | "invalid_request_error" | "rate_limit_error" | "api_error";
        /** @description A fact that happened. Subscribed webhooks receive it. */
        Event: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Always `event`.
             * @constant
             */
            object: "event";
            /** @description The type of the event. */
            type: components["schemas"]["SubscribableEventType"];
            /** @description The subject of the event, such as its `consultation_id` or its `batch_id`. Null in tests. */
            subject: string | null;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it happened; null if the producer gave no time.
             */
            occurred_at: string | null;
            /** @description The facts, as they were emitted; null once the body is past retention, or erased. */
            data: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When its data was erased; null unless it was.
             */
            erased_at: string | null;
        };
        /** @description The body of a delivery. */
        EventBody: components["schemas"]["ConsultationCompletedEvent"] | components["schemas"]["ConsultationFailedEvent"] | components["schemas"]["BatchCompletedEvent"] | components["schemas"]["BatchFailedEvent"] | components["schemas"]["BatchPartialFailureEvent"] | components["schemas"]["WebhookTestEvent"] | components["schemas"]["WebhookFailingEvent"] | components["schemas"]["WebhookDisabledEvent"] | components["schemas"]["WebhookRecoveredEvent"] | components["schemas"]["ApiKeyExpiringEvent"] | components["schemas"]["ApiKeyExpiredEvent"] | components["schemas"]["ReplayFinishedEvent"];
        /** @description A page of a list. */
        EventList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["Event"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Only in answers to a search, which takes at most a second. The search compared all items down to this `created_at`, or up to it with `order=asc`. Null: it compared the whole list or, if `has_more` is true, nothing. Continue with `next_cursor`, also after an empty page.
             */
            searched_until?: string | null;
        };
        /**
         * @description A type of event, a family of types, or `*` for all types of consultations and batches.
         * @enum {string}
         */
        EventPattern: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "api_key.expiring" | "api_key.expired" | "replay.finished" | "consultation.*" | "batch.*" | "*";
        /** @description A type of event that webhooks can subscribe to, with the shape of its deliveries. */
        EventTypeEntry: {
            /**
             * @description Always `event_type`.
             * @constant
             */
            object: "event_type";
            /** @description The name of the type. */
            type: components["schemas"]["EventTypeName"];
            /** @description When such an event happens. */
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
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
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
        EventTypeName: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.test" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "api_key.expiring" | "api_key.expired" | "replay.finished";
        ExplainType: {
            /** @description The type of an event that may happen. */
            type: components["schemas"]["SubscribableEventType"];
            /** @description Only this webhook. */
            webhook_id?: string;
        };
        /** @description Whether one webhook got an event, and why. */
        ExplainedWebhook: {
            /** @description Id of the webhook. */
            webhook_id: string;
            /** @description The status of the delivery, or `skipped`. */
            outcome: components["schemas"]["ExplanationOutcome"];
            /** @description Why: the `last_error` of a failed delivery, or the `canceled_reason` of a canceled one. If it was skipped: the webhook was `created_later` than the event, or at fan-out it was `deleted`, `disabled` or `not_subscribed`. `not_fanned_out`: the webhook will get the event. Expect further reasons. Null if there is none or it is not known. */
            reason: string | null;
            /** @description The same as a sentence, for people. */
            message: string;
            /** @description False if the webhook was changed at about the time of the fan-out, and there is no delivery. */
            certain: boolean;
            /** @description Id of the delivery; null if there is none. */
            delivery_id: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due; null when there will be none.
             */
            next_attempt_at: string | null;
            /** @description What the delivery waits for; null unless it is pending. */
            waiting_for: components["schemas"]["WaitingReason"] | null;
        };
        /** @description Why each webhook got an event, or did not. */
        Explanation: {
            /**
             * @description Always `explanation`.
             * @constant
             */
            object: "explanation";
            /** @description Id of the event; null if only a type was given. */
            event_id: string | null;
            /** @description The type of the event. */
            event_type: components["schemas"]["SubscribableEventType"];
            /**
             * Format: date-time
             * @description When the event was accepted.
             */
            created_at: string | null;
            /**
             * Format: date-time
             * @description When the deliveries of the event were created, or would have been; null before.
             */
            fanned_out_at: string | null;
            /** @description The webhooks that existed when the event was fanned out, or exist now. The newest first. */
            data: components["schemas"]["ExplainedWebhook"][];
        };
        /**
         * @description The status of the delivery; `skipped`: there is none and will be none.
         * @enum {string}
         */
        ExplanationOutcome: "pending" | "succeeded" | "failed" | "canceled" | "skipped";
        /** @description The key of the caller, and its organization. */
        Me: {
            /**
             * @description Always `me`.
             * @constant
             */
            object: "me";
            /** @description The organization that owns the key. */
            organization: {
                /** @description Id of the organization. */
                id: string;
                /** @description Its name. */
                name: string;
                /** @description Its plan. */
                plan: components["schemas"]["Plan"];
                /** @description How long the data of events and the answers of receivers are stored; null: for ever. */
                body_retention_seconds: number | null;
            };
            /** @description The key of the request. */
            key: {
                /** @description Id of the API key. */
                id: string;
                /** @description A name for people. */
                name: string;
                /** @description The beginning of the key, by which its owner knows it. */
                key_prefix: string;
                /** @description The permissions of the key. */
                scopes: components["schemas"]["Scope"][];
                /** @description Addresses and CIDRs that the key may be used from; null: from anywhere. */
                ip_allowlist: string[] | null;
                /**
                 * Format: date-time
                 * @description When the key was created.
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When the key stops being valid; null: never.
                 */
                expires_at: string | null;
                /**
                 * Format: date-time
                 * @description When the key was last used; null: never.
                 */
                last_used_at: string | null;
            };
            /** @description The permissions of the key; the same as `key.scopes`. */
            scopes: components["schemas"]["Scope"][];
            /** @description How many requests the organization may make. */
            rate_limit: components["schemas"]["RateLimit"];
        };
        PauseWebhook: {
            /**
             * Format: date-time
             * @description When the pause ends: at most 7 days ahead; by default in 24 hours.
             */
            resume_at?: string;
            /** @description Why, for people. */
            reason?: string;
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
            /** @description The length of a window, in seconds. */
            window_seconds: number;
        };
        /** @description Deliveries of one webhook that one request sent again. */
        Replay: {
            /** @description Id of the replay. */
            id: string;
            /**
             * @description Always `replay`.
             * @constant
             */
            object: "replay";
            /** @description Id of the webhook. */
            webhook_id: string;
            /**
             * @description `completed`: none of its deliveries is pending. `canceled`: somebody canceled it.
             * @enum {string}
             */
            state: "running" | "completed" | "canceled";
            /** @description How many deliveries the replay sends. Final. */
            matched: number;
            /** @description Whether more match than the 100,000 that one replay takes. */
            has_more: boolean;
            /** @description How many of them are pending. While the replay runs, the counts may be seconds old. */
            pending: number;
            /** @description How many of them this replay delivered. */
            succeeded: number;
            /** @description How many of them failed again. */
            failed: number;
            /** @description How many of them were canceled before they were delivered, or were left to their schedule. */
            canceled: number;
            /** @description As requested. */
            rate_per_second: number | null;
            /**
             * Format: date-time
             * @description When the replay was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was completed or canceled.
             */
            completed_at: string | null;
        };
        /** @description A replay was completed: none of its deliveries is pending. */
        ReplayFinishedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "replay.finished";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The replay. */
                replay: {
                    /** @description Id of the replay. */
                    id: string;
                    /** @description Id of the webhook. */
                    webhook_id: string;
                    /** @description How many deliveries it sent. */
                    matched: number;
                    /** @description How many of them it delivered. */
                    succeeded: number;
                    /** @description How many of them failed again. */
                    failed: number;
                    /** @description How many of them were canceled. */
                    canceled: number;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * Format: date-time
                 * @description When it was completed.
                 */
                completed_at: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A page of a list. */
        ReplayList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["Replay"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description The answer to a dry run: the deliveries that a replay would send. */
        ReplayPreview: {
            /**
             * @description Always `replay_preview`.
             * @constant
             */
            object: "replay_preview";
            /** @description How many deliveries the replay would send. */
            matched: number;
            /** @description Whether more match than the 100,000 that one replay takes. */
            has_more: boolean;
            /** @description How many by status. Statuses without a match are left out. */
            by_status: {
                [key: string]: number;
            };
            /** @description How many by type. Types without a match are left out. */
            by_event_type: {
                [key: string]: number;
            };
            /** @description The ids of at most five of the events. */
            sample: string[];
            /** @description How long the first attempts would take at `rate_per_second`; null without a rate. */
            estimated_seconds: number | null;
        };
        ReplayRequest: {
            /**
             * Format: date-time
             * @description Only deliveries, or skipped events, that were created at this time or later. 400 if 30 seconds do not suffice to read them: choose a shorter period.
             */
            since: string;
            /**
             * Format: date-time
             * @description Only objects created before this time.
             */
            until?: string;
            /**
             * @description Which deliveries are sent again. `skipped`: events since the webhook was created that match it now and have no delivery to it. `pending`: waiting deliveries become due now, and keep their remaining attempts.
             * @default [
             *       "failed",
             *       "canceled"
             *     ]
             */
            status?: ("failed" | "canceled" | "succeeded" | "skipped" | "pending")[];
            /** @description Only events of these types. */
            event_type?: components["schemas"]["EventTypeName"][];
            /** @description Only deliveries whose `last_error` is one of these. Leaves skipped events out. */
            error?: components["schemas"]["AttemptError"][];
            /** @description Only deliveries whose `last_status_code` is one of these. Leaves skipped events out. */
            status_code?: number[];
            /**
             * @description Spreads the first attempts: at most this many become due in a second. Pending deliveries keep an earlier due time. Null: all are due at once.
             * @default null
             */
            rate_per_second?: number | null;
            /**
             * @description Answers with what would be sent, and sends nothing.
             * @default false
             */
            dry_run?: boolean;
        };
        ResumeWebhook: {
            /** @description At most this many attempts start in a second until the deliveries of the pause have been sent. */
            rate_per_second?: number;
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
        /**
         * @description Why a signature is wrong, or `ok`.
         * @enum {string}
         */
        SignatureCause: "missing_header" | "bad_encoding" | "wrong_header" | "body_consumed" | "whitespace_changed" | "truncated" | "body_reserialized" | "previous_secret" | "other_webhook" | "timestamp_skew" | "ok" | "unknown";
        /** @description Why a signature is refused. Contains neither secrets nor signatures. */
        SignatureCheck: {
            /**
             * @description Always `signature_check`.
             * @constant
             */
            object: "signature_check";
            /** @description Whether at least one signature is right and none is wrong. */
            valid: boolean;
            /** @description The delivery of the event that `webhook-id` names; null if this webhook has none. */
            delivery_id: string | null;
            /** @description One check for each signature header. */
            checks: {
                /**
                 * @description The signature that was checked.
                 * @enum {string}
                 */
                header: "X-Service-Signature" | "webhook-signature";
                /** @description Why it is wrong, or `ok`. */
                cause: components["schemas"]["SignatureCause"];
                /** @description The cause as a sentence. */
                message: string;
                /** @description With `other_webhook`: the webhook whose secret made the signature. */
                webhook_id?: string;
                /** @description With `timestamp_skew`: how far the timestamp is from the nearest attempt. */
                seconds?: number;
            }[];
            /** @description From what your code computed `computed`; null if it was not sent. */
            computed: components["schemas"]["SignatureComputation"];
        };
        /** @description From what a receiver computed its signature. */
        SignatureComputation: ("correct" | "secret_decoded" | "secret_not_decoded" | "secret_without_prefix" | "secret_with_version" | "secret_with_whitespace_or_quotes" | "base64_not_hex" | "hex_not_base64" | "body_reserialized" | "without_timestamp" | "unknown") | null;
        /** @description The addresses from which deliveries come, for the firewall of a receiver. */
        SourceAddresses: {
            /**
             * @description Always `source_addresses`.
             * @constant
             */
            object: "source_addresses";
            /** @description The addresses and CIDRs from which deliveries come; null if the operator has named none. */
            addresses: string[] | null;
        };
        /**
         * @description A type of event that webhooks can subscribe to.
         * @enum {string}
         */
        SubscribableEventType: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "api_key.expiring" | "api_key.expired" | "replay.finished";
        TestWebhook: {
            /**
             * @description The type of the event that is sent.
             * @default webhook.test
             */
            type?: components["schemas"]["EventTypeName"];
        };
        /** @description The fields to change; the others stay as they are. */
        UpdateWebhook: {
            /** @description Where deliveries are sent: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters. */
            url?: string;
            /** @description The types and wildcards that the webhook subscribes to. */
            events?: components["schemas"]["EventPattern"][];
            /** @description The owner's own note. */
            description?: string | null;
            /** @description Whether new events are delivered. */
            enabled?: boolean;
            /** @description At most this many attempts start in a second; null: no limit. Tests are exempt. */
            rate_limit_per_second?: number | null;
            /** @description At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt. */
            max_in_flight?: number | null;
            /** @description Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`. */
            auto_recover?: boolean;
            /** @description Headers that every delivery carries, for a gateway before your receiver: at most 10. No answer shows their values. Headers that we set ourselves are reserved. A new `url` of another origin needs them again. */
            headers?: {
                [key: string]: string;
            };
        };
        /** @description The usage of an organization in a period. Hours, days and months without usage are left out. */
        Usage: {
            /**
             * @description Always `usage`.
             * @constant
             */
            object: "usage";
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The plan of the organization. */
            plan: components["schemas"]["Plan"];
            /** @description How many requests the organization may make. */
            rate_limit: components["schemas"]["RateLimit"];
            /**
             * Format: date-time
             * @description The beginning of the period.
             */
            since: string;
            /**
             * Format: date-time
             * @description The end of the period.
             */
            until: string;
            /**
             * @description The length of each entry of `data`.
             * @enum {string}
             */
            granularity: "hour" | "day" | "month";
            /** @description The usage of each hour, day or month, the oldest first. */
            data: {
                /**
                 * Format: date-time
                 * @description When the hour, day or month begins, UTC, even when `since` is later.
                 */
                start: string;
                /** @description Present with `group_by=key`. The entry of events, deliveries and attempts has null. */
                key_id?: string | null;
                /**
                 * @description Present with `group_by=area`. Events, deliveries and attempts count under `webhooks`.
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
                /** @description Events that were accepted. */
                events: number;
                /** @description Deliveries that were created. */
                deliveries: number;
                /** @description Attempts that were made. */
                attempts: number;
            }[];
            /** @description The usage of the whole period. */
            totals: {
                /** @description Requests with a known key, `refused` included. */
                requests: number;
                /** @description Requests that were answered 403 or 429 here. */
                refused: number;
                /** @description Bytes of request bodies. */
                bytes_in: number;
                /** @description Bytes of answer bodies. */
                bytes_out: number;
                /** @description Events that were accepted. */
                events: number;
                /** @description Deliveries that were created. */
                deliveries: number;
                /** @description Attempts that were made. */
                attempts: number;
            };
        };
        VerifySignature: {
            /** @description The headers as your receiver got them, with names in any case. */
            headers: {
                [key: string]: string | string[];
            };
            /** @description The body that your code verifies, as text. */
            body?: string;
            /** @description Instead of `body`: its bytes in base64. */
            body_base64?: string;
            /** @description The signature that your code computed. */
            computed?: string;
        };
        /**
         * @description What a pending delivery waits for. `lease`: a worker has leased it and will send it. `paused`: somebody paused its webhook, or all sending. `receiver`: its receiver asked with `Retry-After` to wait. `circuit_open`: its webhook keeps failing. `schedule`: it is not due yet. `rate_limit`: its webhook is at its `rate_limit_per_second` or `max_in_flight`. `capacity`: it is due and waits for a worker.
         * @enum {string}
         */
        WaitingReason: "lease" | "paused" | "receiver" | "circuit_open" | "schedule" | "rate_limit" | "capacity";
        /** @description A customer's registered URL, with the events it subscribes to and its state. */
        Webhook: {
            /** @description Id of the webhook. */
            id: string;
            /**
             * @description Always `webhook`.
             * @constant
             */
            object: "webhook";
            /** @description Where deliveries are sent. */
            url: string;
            /** @description The types and wildcards that the webhook subscribes to. */
            events: string[];
            /** @description The owner's own note. */
            description: string | null;
            /** @description Whether new events are delivered. */
            enabled: boolean;
            /** @description Why the webhook is disabled; null if it is enabled. */
            disabled_reason: components["schemas"]["DisabledReason"] | null;
            /**
             * Format: date-time
             * @description When the failures since the last success began; null if there are none.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.
             */
            disable_at: string | null;
            /** @description At most this many attempts start in a second; null: no limit. Tests are exempt. */
            rate_limit_per_second: number | null;
            /** @description At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt. */
            max_in_flight: number | null;
            /** @description Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`. */
            auto_recover: boolean;
            /** @description The names of `headers`. Their values are never shown. */
            header_names: string[];
            /** @description The pause of the webhook; null unless it is paused. */
            paused: {
                /**
                 * Format: date-time
                 * @description When the pause began.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description When it ends by itself.
                 */
                resume_at: string;
                /** @description Why, in words. */
                reason: string | null;
            } | null;
            /**
             * Format: date-time
             * @description When the previous secret stops signing; null if only one secret is in use.
             */
            previous_secret_expires_at: string | null;
            /**
             * Format: date-time
             * @description When the webhook was registered.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the webhook last changed.
             */
            updated_at: string;
        };
        /** @description The service disabled a webhook: it had failed for days (`failing`), or answered 410 (`gone`). */
        WebhookDisabledEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "webhook.disabled";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The webhook that the event is about. It does not get the event. */
                webhook: {
                    /** @description Id of the webhook. */
                    id: string;
                    /** @description Its URL, without the query. */
                    url: string;
                    /** @description The owner's own note. */
                    description: string | null;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * @description Why it was disabled.
                 * @enum {string}
                 */
                cause: "failing" | "gone";
                /** @description How many attempts have failed since the last success. */
                count: number;
                /**
                 * Format: date-time
                 * @description When it was disabled.
                 */
                disabled_at: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A webhook has had no success for a day; again 24 hours before it is disabled. */
        WebhookFailingEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "webhook.failing";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The webhook that the event is about. It does not get the event. */
                webhook: {
                    /** @description Id of the webhook. */
                    id: string;
                    /** @description Its URL, without the query. */
                    url: string;
                    /** @description The owner's own note. */
                    description: string | null;
                } & {
                    [key: string]: unknown;
                };
                /** @description The error of its newest delivery without success. */
                cause: string | null;
                /** @description How many attempts have failed since the last success. */
                count: number;
                /**
                 * Format: date-time
                 * @description When the failures began.
                 */
                failing_since: string;
                /**
                 * Format: date-time
                 * @description When it will be disabled unless a delivery succeeds first.
                 */
                disable_at: string | null;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description Whether the deliveries of a webhook arrive, and if not, why. */
        WebhookHealth: {
            /**
             * @description Always `webhook_health`.
             * @constant
             */
            object: "webhook_health";
            /** @description Id of the webhook. */
            webhook_id: string;
            /** @description Whether the webhook works. */
            state: components["schemas"]["WebhookHealthState"];
            /**
             * Format: date-time
             * @description When the webhook was disabled, was paused or began to fail; null in every other state.
             */
            since: string | null;
            /**
             * Format: date-time
             * @description When the newest attempt that succeeded began; null if there is none.
             */
            last_success_at: string | null;
            /**
             * Format: date-time
             * @description When the newest attempt that failed began; null if there is none.
             */
            last_failure_at: string | null;
            /**
             * Format: date-time
             * @description When the failures since the last success began; null if there are none.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.
             */
            disable_at: string | null;
            /** @description The circuit breaker of the webhook. */
            circuit: {
                /**
                 * @description `open`: deliveries wait after failures. `half_open`: one delivery at a time tests the endpoint.
                 * @enum {string}
                 */
                state: "closed" | "open" | "half_open";
                /**
                 * Format: date-time
                 * @description When the next delivery is tried; null unless the circuit is open.
                 */
                next_attempt_at: string | null;
            };
            /** @description How many deliveries are pending, counted up to 10,000. */
            pending: number;
            /**
             * Format: date-time
             * @description When the oldest of them was created; null if there is none.
             */
            oldest_pending_at: string | null;
            /** @description What the oldest of them waits for; null if there is none. */
            oldest_waiting_for: components["schemas"]["WaitingReason"] | null;
            /** @description Why attempts failed in the last 24 hours: at most 5 causes, the most frequent first. */
            causes: {
                /** @description Why the attempts failed. */
                error: components["schemas"]["AttemptError"];
                /** @description The status of the answers; null if there was none. */
                status_code: number | null;
                /** @description How many attempts failed with this error and status. */
                count: number;
                /**
                 * Format: date-time
                 * @description When the newest of them began.
                 */
                last_at: string;
                /** @description The delivery of the newest of them. */
                delivery_id: string;
                /** @description The remedy, as a sentence. */
                hint: string;
            }[];
        };
        /**
         * @description The first that holds: `disabled`; `paused`; `failing` (3 or more attempts failed since the last success); `degraded` (an attempt failed since the last success, or 5 % of the last hour, or the circuit is not closed); `idle` (no attempt for 24 hours); `healthy`. Expect further states.
         * @enum {string}
         */
        WebhookHealthState: "disabled" | "paused" | "failing" | "degraded" | "idle" | "healthy";
        /** @description The health of a webhook without its causes. */
        WebhookHealthSummary: {
            /**
             * @description Always `webhook_health`.
             * @constant
             */
            object: "webhook_health";
            /** @description Id of the webhook. */
            webhook_id: string;
            /** @description Whether the webhook works. */
            state: components["schemas"]["WebhookHealthState"];
            /**
             * Format: date-time
             * @description When the webhook was disabled, was paused or began to fail; null in every other state.
             */
            since: string | null;
            /**
             * Format: date-time
             * @description When the newest attempt that succeeded began; null if there is none.
             */
            last_success_at: string | null;
            /**
             * Format: date-time
             * @description When the newest attempt that failed began; null if there is none.
             */
            last_failure_at: string | null;
            /**
             * Format: date-time
             * @description When the failures since the last success began; null if there are none.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.
             */
            disable_at: string | null;
            /** @description The circuit breaker of the webhook. */
            circuit: {
                /**
                 * @description `open`: deliveries wait after failures. `half_open`: one delivery at a time tests the endpoint.
                 * @enum {string}
                 */
                state: "closed" | "open" | "half_open";
                /**
                 * Format: date-time
                 * @description When the next delivery is tried; null unless the circuit is open.
                 */
                next_attempt_at: string | null;
            };
            /** @description How many deliveries are pending, counted up to 10,000. */
            pending: number;
            /**
             * Format: date-time
             * @description When the oldest of them was created; null if there is none.
             */
            oldest_pending_at: string | null;
            /** @description What the oldest of them waits for; null if there is none. */
            oldest_waiting_for: components["schemas"]["WaitingReason"] | null;
        };
        /** @description A page of a list. */
        WebhookHealthSummaryList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["WebhookHealthSummary"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        WebhookList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["Webhook"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /** @description A delivery succeeded after `webhook.failing`, or a webhook was enabled after `webhook.disabled`, by a person or by a probe. */
        WebhookRecoveredEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "webhook.recovered";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description The name of the organization. */
                organization_name: string;
                /** @description The page that says what to do: a path at the address of the API. */
                help_url: string;
                /** @description In an operator's copy: whose event it is. */
                organization_id?: string;
                /** @description In an operator's copy: the operator's id of that organization. */
                external_id?: string | null;
                /** @description The webhook that the event is about. It does not get the event. */
                webhook: {
                    /** @description Id of the webhook. */
                    id: string;
                    /** @description Its URL, without the query. */
                    url: string;
                    /** @description The owner's own note. */
                    description: string | null;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * @description Why the webhook has recovered.
                 * @enum {string}
                 */
                cause: "succeeded" | "enabled" | "probe";
                /**
                 * Format: date-time
                 * @description When it recovered.
                 */
                recovered_at: string;
                /** @description After a probe: how many events the webhook did not get while it was disabled, at most 100,000. */
                skipped?: number;
                /** @description After a probe: the body of the request `POST /v1/webhooks/{id}/replay` that sends these events. */
                replay?: {
                    /**
                     * Format: date-time
                     * @description Shortly before the webhook was disabled.
                     */
                    since: string;
                    /** @description Only events without a delivery to the webhook. */
                    status: "skipped"[];
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description The attempts of a period by the time of their start. Minutes, hours and days without any are left out. */
        WebhookStatistics: {
            /**
             * @description Always `webhook_statistics`.
             * @constant
             */
            object: "webhook_statistics";
            /**
             * Format: date-time
             * @description The beginning of the period.
             */
            since: string;
            /**
             * Format: date-time
             * @description The end of the period.
             */
            until: string;
            /**
             * @description The length of each entry of `data`.
             * @enum {string}
             */
            granularity: "minute" | "hour" | "day";
            /**
             * Format: date-time
             * @description Every attempt that was recorded before this time is counted.
             */
            complete_until: string;
            /** @description The attempts of each minute, hour or day, the oldest first. */
            data: {
                /**
                 * Format: date-time
                 * @description When the minute, hour or day begins, UTC, even when `since` is later.
                 */
                start: string;
                /** @description Present with `group_by=webhook`. */
                webhook_id?: string;
                /** @description Present with `group_by=event_type`. */
                event_type?: components["schemas"]["EventTypeName"];
                /** @description Present with `group_by=error`; null for attempts that succeeded. */
                error?: components["schemas"]["AttemptError"] | null;
                /** @description Attempts that started, tests excluded. */
                attempts: number;
                /** @description Attempts that succeeded. */
                succeeded: number;
                /** @description Attempts that failed. */
                failed: number;
                /** @description How long attempts took, in milliseconds, within 10 %. */
                duration_ms: {
                    /** @description The median. */
                    p50: number | null;
                    /** @description The 95th percentile. */
                    p95: number | null;
                    /** @description The 99th percentile. */
                    p99: number | null;
                };
                /** @description From the acceptance of the event to the start of the first attempt, in milliseconds, within 10 % up to eight minutes; null without first attempts. */
                lag_ms: {
                    /** @description The median. */
                    p50: number | null;
                    /** @description The 95th percentile. */
                    p95: number | null;
                    /** @description The 99th percentile. */
                    p99: number | null;
                };
            }[];
            /** @description The attempts of the whole period. */
            totals: {
                /** @description Attempts that started, tests excluded. */
                attempts: number;
                /** @description Attempts that succeeded. */
                succeeded: number;
                /** @description Attempts that failed. */
                failed: number;
                /** @description How long attempts took, in milliseconds, within 10 %. */
                duration_ms: {
                    /** @description The median. */
                    p50: number | null;
                    /** @description The 95th percentile. */
                    p95: number | null;
                    /** @description The 99th percentile. */
                    p99: number | null;
                };
                /** @description From the acceptance of the event to the start of the first attempt, in milliseconds, within 10 % up to eight minutes; null without first attempts. */
                lag_ms: {
                    /** @description The median. */
                    p50: number | null;
                    /** @description The 95th percentile. */
                    p95: number | null;
                    /** @description The 99th percentile. */
                    p99: number | null;
                };
            };
        };
        /** @description Sent by the test endpoint to one webhook alone; no webhook can subscribe to it. */
        WebhookTestEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description The type of the event.
             * @constant
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened; if the producer gave no time, when it was accepted.
             */
            timestamp: string;
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The facts. Types may get further fields. */
            data: {
                /** @description Id of the webhook that is tested. */
                webhook_id: string;
            } & {
                [key: string]: unknown;
            };
            /** @description True in tests. Other events lack this field. */
            test?: boolean;
        };
        /** @description A webhook with its secret, which no other answer shows. */
        WebhookWithSecret: {
            /** @description Id of the webhook. */
            id: string;
            /**
             * @description Always `webhook`.
             * @constant
             */
            object: "webhook";
            /** @description Where deliveries are sent. */
            url: string;
            /** @description The types and wildcards that the webhook subscribes to. */
            events: string[];
            /** @description The owner's own note. */
            description: string | null;
            /** @description Whether new events are delivered. */
            enabled: boolean;
            /** @description Why the webhook is disabled; null if it is enabled. */
            disabled_reason: components["schemas"]["DisabledReason"] | null;
            /**
             * Format: date-time
             * @description When the failures since the last success began; null if there are none.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.
             */
            disable_at: string | null;
            /** @description At most this many attempts start in a second; null: no limit. Tests are exempt. */
            rate_limit_per_second: number | null;
            /** @description At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt. */
            max_in_flight: number | null;
            /** @description Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`. */
            auto_recover: boolean;
            /** @description The names of `headers`. Their values are never shown. */
            header_names: string[];
            /** @description The pause of the webhook; null unless it is paused. */
            paused: {
                /**
                 * Format: date-time
                 * @description When the pause began.
                 */
                since: string;
                /**
                 * Format: date-time
                 * @description When it ends by itself.
                 */
                resume_at: string;
                /** @description Why, in words. */
                reason: string | null;
            } | null;
            /**
             * Format: date-time
             * @description When the previous secret stops signing; null if only one secret is in use.
             */
            previous_secret_expires_at: string | null;
            /**
             * Format: date-time
             * @description When the webhook was registered.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the webhook last changed.
             */
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
    listConsoleSessions: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listOwnErasures: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Only erasures in this state. */
                state?: "running" | "completed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description The newest first (`desc`), or the oldest first (`asc`). With `asc` every page has a `next_cursor`, also the last and an empty one. */
                order?: "asc" | "desc";
                type?: components["schemas"]["SubscribableEventType"][];
                /** @description Only with this subject, such as a `consultation_id` or a `batch_id`, exactly. */
                subject?: string;
                /** @description Only objects created at this time or later. */
                since?: string;
                /** @description Only objects created before this time. */
                until?: string;
                /** @description Only events with this text in a string of their `data`, exactly and case-sensitive. A search, because no index finds it. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    explainEvent: {
        parameters: {
            query?: {
                /**
                 * @description Only this webhook.
                 * @example whk_01jd6kz5r8e2v9qxm3c7t4b0na
                 */
                webhook_id?: string;
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
                /** @description Splits each hour, day or month by API key or by area. */
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
                /** @description Only enabled webhooks (`true`), or only disabled ones (`false`). */
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
                /** @description Only these deliveries. */
                id?: string[];
                /**
                 * @description Id of the webhook.
                 * @example whk_01jd6kz5r8e2v9qxm3c7t4b0na
                 */
                webhook_id?: string;
                /**
                 * @description Id of the event.
                 * @example evt_01jd6kz5r8e2v9qxm3c7t4b0na
                 */
                event_id?: string;
                /** @description With `webhook_id` or `status` a search, unless the page is read within half a second. */
                event_type?: components["schemas"]["EventTypeName"][];
                /** @description Only with this subject, such as a `consultation_id` or a `batch_id`, exactly. */
                subject?: string;
                status?: components["schemas"]["DeliveryStatus"][];
                /** @description Only if the last answer had this status (`503`, `5xx`). A search, because no index finds it. */
                last_status_code?: string;
                /** @description Only deliveries with this `last_error`. Also a search. */
                last_error?: components["schemas"]["AttemptError"][];
                /** @description Only objects created at this time or later. */
                since?: string;
                /** @description Only objects created before this time. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listWebhookHealth: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listReplays: {
        parameters: {
            query?: {
                /** @description How many items the page has at most. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /**
                 * @description Id of the webhook.
                 * @example whk_01jd6kz5r8e2v9qxm3c7t4b0na
                 */
                webhook_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getWebhookStatistics: {
        parameters: {
            query?: {
                /** @description A whole minute; 24 hours before `until` by default. */
                since?: string;
                /** @description A whole minute; the end of this minute by default. */
                until?: string;
                /** @description At most 1,000 minutes, hours or days (UTC) in one answer. */
                granularity?: "minute" | "hour" | "day";
                /**
                 * @description Id of the webhook.
                 * @example whk_01jd6kz5r8e2v9qxm3c7t4b0na
                 */
                webhook_id?: string;
                /** @description Splits each minute, hour or day. */
                group_by?: "webhook" | "event_type" | "error";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
