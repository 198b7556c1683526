// Made from docs/internal-openapi.json by `npm run openapi`. Not to be changed by hand.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An API key, without its secret. */
        ApiKey: {
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
            /** @constant */
            object: "api_key";
            organization_id: string;
        };
        /** @description A page of a list. */
        ApiKeyList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["ApiKey"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
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
        /**
         * @description What was done.
         * @enum {string}
         */
        AuditAction: "organization.created" | "organization.updated" | "api_key.created" | "api_key.updated" | "api_key.deleted" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.deleted" | "webhook.disabled" | "webhook.tested" | "webhook.replayed" | "delivery.retried" | "sending.paused" | "sending.resumed";
        /** @description A change of an organization, a key, a webhook, a delivery or of what is sent at all: what, by whom, and when. */
        AuditEntry: {
            id: string;
            /** @constant */
            object: "audit_entry";
            /** @description `key_…` for a request to `/v1`, `internal` for one to the internal listener, `webhook-worker` for a worker. */
            actor: string;
            action: components["schemas"]["AuditAction"];
            /** @enum {string} */
            object_type: "organization" | "api_key" | "webhook" | "delivery" | "sending";
            /** @description Null of `sending` as a whole; the id of the organization of one. */
            object_id: (string) | null;
            /** @description Null of what concerns all organizations. */
            organization_id: string | null;
            request_id: string | null;
            /** @description `X-Actor` of a request to the internal listener: who asked the internal caller to act. */
            on_behalf_of: string | null;
            changed_fields: string[];
            /** @description Of the changed fields that hold no secret. */
            changes: {
                [key: string]: {
                    from: string | number | boolean | null | string[];
                    to: string | number | boolean | null | string[];
                };
            };
            /** Format: date-time */
            created_at: string;
        };
        /** @description A page of a list. */
        AuditEntryList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["AuditEntry"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        CreateApiKey: {
            name: string;
            /** @description What the key may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description Addresses and CIDRs that the key may be used from; null: from anywhere. */
            ip_allowlist?: string[] | null;
            /**
             * Format: date-time
             * @description When the key stops being valid; null: never.
             */
            expires_at?: string | null;
        };
        CreateOrganization: {
            name: string;
            plan: components["schemas"]["Plan"];
            /** @description The caller's own id of the organization. No two organizations have the same. */
            external_id?: string | null;
        };
        /** @description An API key with its secret, which no other answer shows. */
        CreatedApiKey: {
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
            /** @constant */
            object: "api_key";
            organization_id: string;
            /** @description The key itself. */
            secret: string;
        };
        /** @description Sessions of the database that wait for locks or hold them for long. */
        DatabaseLocks: {
            /** @constant */
            object: "database_locks";
            /**
             * Format: date-time
             * @description When the database was asked.
             */
            at: string;
            /** @description Sessions that wait for a lock, that block others, or whose transaction is older than a minute. */
            sessions: components["schemas"]["DatabaseSession"][];
        };
        /** @description A session of the database. */
        DatabaseSession: {
            /** @description The process id on the server, for `pg_cancel_backend` and `pg_terminate_backend`. */
            pid: number;
            /** @description The application name of the connection. Ours begin with `enterprise-api`. */
            application: string;
            /** @description The state of the session, such as `active` or `idle in transaction`. */
            state: string | null;
            /** @description The type and the name of the wait event; null while the session runs. */
            waits_for: string | null;
            /** @description The sessions that hold the lock. 0 is a prepared transaction. */
            blocked_by: number[];
            /** @description The age of the transaction. */
            transaction_seconds: number | null;
            /** @description The time since the latest statement began. */
            statement_seconds: number | null;
            /** @description The latest statement, without literals; null for sessions of other programs. */
            statement: string | null;
        };
        /** @description The sizes of our tables, and who has most of what waits. */
        DatabaseSizes: {
            /** @constant */
            object: "database_sizes";
            /**
             * Format: date-time
             * @description When the database was asked.
             */
            at: string;
            /** @description The size of the database. */
            bytes: number;
            /** @description Our tables, the largest first. */
            tables: {
                /** @description The name of the table. */
                name: string;
                /** @description Its size with its partitions, indexes and large values. */
                bytes: number;
                /** @description The part of it that is indexes. */
                index_bytes: number;
                /** @description Its rows, estimated. */
                rows: number;
                /** @description Rows that a vacuum will remove, estimated. */
                dead_rows: number;
                /** @description How many partitions it has. */
                partitions: number;
                /** @description Its oldest partition. */
                oldest_partition: string | null;
                /** @description Its newest partition. */
                newest_partition: string | null;
                /**
                 * Format: date-time
                 * @description When it, or one of its partitions, was last vacuumed.
                 */
                vacuumed_at: string | null;
                /**
                 * Format: date-time
                 * @description When it, or one of its partitions, was last analyzed.
                 */
                analyzed_at: string | null;
            }[];
            /** @description Organizations with the most events that are not fanned out. */
            outbox: {
                /** @description The organization. */
                organization_id: string;
                /** @description Counted among the oldest 10,000. */
                events: number;
                /**
                 * Format: date-time
                 * @description When the oldest of them was written.
                 */
                oldest_at: string;
            }[];
            /** @description Webhooks with the most deliveries that are due for more than a minute. Excludes paused deliveries. */
            overdue: {
                /** @description The webhook. */
                webhook_id: string;
                /** @description Its organization. */
                organization_id: string;
                /** @description Counted among the 100,000 that became due last. */
                deliveries: number;
                /**
                 * Format: date-time
                 * @description When the first of them became due.
                 */
                due_since: string;
            }[];
            /** @description Deliveries that more than three leases have not sent: they may end their workers. */
            leased_often: {
                /** @description The delivery. */
                delivery_id: string;
                /** @description How many leases ended without a recorded attempt. */
                leases: number;
            }[];
            /** @description Events whose deliveries the database refuses, the oldest first. */
            parked_events: {
                /** @description The event. */
                event_id: string;
                /** @description Its organization. */
                organization_id: string;
                /** @description The SQLSTATE and the name of what refused its deliveries. */
                reason: string;
                /** @description How often its fan-out has failed. */
                failures: number;
                /**
                 * Format: date-time
                 * @description When its fan-out is tried again.
                 */
                retry_at: string;
            }[];
        };
        /** @description What our connections to the database do, and which statements took most time. */
        DatabaseStatements: {
            /** @constant */
            object: "database_statements";
            /**
             * Format: date-time
             * @description When the database was asked.
             */
            at: string;
            /** @description How many connections the server allows. */
            max_connections: number;
            /** @description The connections to this database. */
            connections: {
                /** @description The application name of the connections. */
                application: string;
                /** @description Their state, such as `idle` or `active`. */
                state: string | null;
                /** @description How many connections to this database have both. */
                count: number;
            }[];
            /** @description Our sessions with an open transaction, the oldest first. */
            running: components["schemas"]["DatabaseSession"][];
            /** @description Our statements by their total time, since the statistics were reset; null without `pg_stat_statements`. */
            slowest: {
                /** @description The statement, without literals. */
                statement: string;
                /** @description How often it ran. */
                calls: number;
                /** @description The time of all its runs. */
                total_ms: number;
                /** @description The average time of a run. */
                mean_ms: number;
                /** @description How many rows it returned or changed. */
                rows: number;
                /** @description How many blocks it read from outside of the shared buffers. */
                disk_blocks: number;
            }[] | null;
            /** @description Why `slowest` is null. */
            slowest_missing: string | null;
        };
        /** @description The deliveries that were made in a period, the newest `counts_stop_at` of them, by their status now. */
        DeliveriesOfPeriod: {
            /** @description Counted up to `counts_stop_at`. */
            created: number;
            /** @description Counted up to `counts_stop_at`. */
            pending: number;
            /** @description Counted up to `counts_stop_at`. */
            succeeded: number;
            /** @description Counted up to `counts_stop_at`. */
            failed: number;
            /** @description Counted up to `counts_stop_at`. */
            canceled: number;
            /** @description Failed attempts that were recorded in this period, of whatever deliveries. */
            failed_attempts: number;
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
        /** @description An event, as an internal producer emits it. */
        EmitEvent: {
            organization_id: string;
            type: components["schemas"]["EmittableEventType"];
            /** @description Any fields, passed on as they are: at most 256 KiB as JSON, nested at most 20 deep. `consultation.*` needs `consultation_id` and `batch.*` needs `batch_id`, strings of 1 to 200 characters. */
            data: {
                [key: string]: unknown;
            };
            /** @description The producer's own id. For one organization, the same id names the same event, whatever the rest. */
            id?: string;
            /**
             * Format: date-time
             * @description When it happened; the time of acceptance by default.
             */
            occurred_at?: string;
        };
        /** @description Events, all or nothing. */
        EmitEvents: {
            events: components["schemas"]["EmitEvent"][];
        };
        /** @description One event, or up to 1,000. */
        EmitRequest: components["schemas"]["EmitEvents"] | components["schemas"]["EmitEvent"];
        /**
         * @description A type of event that webhooks can subscribe to.
         * @enum {string}
         */
        EmittableEventType: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure";
        /** @description An event that was accepted. */
        EmittedEvent: {
            id: string;
            type: components["schemas"]["EventTypeName"];
            organization_id: string;
            /** @description Whether there was an event with this producer's id before; then that one is named. */
            duplicate: boolean;
        };
        /** @description The events that were accepted, in the order of the request. */
        EmittedEvents: {
            data: components["schemas"]["EmittedEvent"][];
        };
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
        /**
         * @description The type of an event. `webhook.test` is sent by the test endpoint alone.
         * @enum {string}
         */
        EventTypeName: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.test";
        /** @description A delivery with its organization and its attempts. */
        InspectedDelivery: {
            organization_id: string;
            delivery: components["schemas"]["Delivery"];
            /** @description The newest first. */
            attempts: components["schemas"]["Attempt"][];
        };
        /** @description A webhook with its organization and its health. */
        InspectedWebhook: {
            organization_id: string;
            webhook: components["schemas"]["Webhook"];
            /** @description Whether its deliveries are paused, with all or with its organization. */
            sending_paused: boolean;
            health: {
                /** @description Failures in a row of the kinds that open the circuit. */
                consecutive_failures: number;
                /** @description Failed attempts of any kind since the last success. */
                failed_attempts: number;
                /** @description How often the circuit has opened since the last success. */
                openings: number;
                /**
                 * Format: date-time
                 * @description The circuit is open until then; half-open after it, until a success.
                 */
                open_until: string | null;
            };
        };
        OperatorUpdateWebhook: {
            /** @description False stops deliveries to it, and cancels those that are pending. */
            enabled: boolean;
        };
        /** @description A customer of the service, with one plan, API keys and webhooks. */
        Organization: {
            id: string;
            /** @constant */
            object: "organization";
            name: string;
            plan: components["schemas"]["Plan"];
            external_id: string | null;
            /** Format: date-time */
            created_at: string;
        };
        /** @description A page of a list. */
        OrganizationList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Organization"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        /**
         * @description The plan of an organization. `starter` has no API access.
         * @enum {string}
         */
        Plan: "starter" | "pro" | "business" | "enterprise";
        /** @description A JSON Web Key Set. */
        PublicSigningKeys: {
            keys: {
                /** @constant */
                kty: "OKP";
                /** @constant */
                crv: "Ed25519";
                /** @constant */
                alg: "EdDSA";
                /** @constant */
                use: "sig";
                kid: string;
                x: string;
            }[];
        };
        /** @description The jobs of a queue, by state. */
        QueueCounts: {
            name: string;
            is_paused: boolean;
            waiting: number;
            active: number;
            delayed: number;
            failed: number;
            /** @description Processes that take jobs of it; null where the server cannot tell. */
            workers: number | null;
        };
        /** @description The counts of every queue, and the newest jobs of one in one state. What an event says is not shown. */
        QueueJobs: {
            /** @constant */
            object: "queue_jobs";
            /** @description Every queue. */
            queues: components["schemas"]["QueueCounts"][];
            /** @enum {string} */
            queue: "events" | "event-writes";
            /** @enum {string} */
            state: "waiting" | "active" | "delayed" | "failed";
            /** @description The newest 50. */
            jobs: {
                id: string;
                name: string;
                /** Format: date-time */
                added_at: string;
                /** @description How often it was begun. */
                attempts: number;
                failed_reason: string | null;
                /** @description The first events that it names. */
                event_ids: string[];
            }[];
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
        /**
         * @description A permission of a key. `*` grants every other scope.
         * @enum {string}
         */
        Scope: "me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*";
        /** @description Whether deliveries are paused: all, or those of one organization. The two are independent. */
        Sending: {
            paused: boolean;
            /** @description Null: the pause of all sending. */
            organization_id: string | null;
            /**
             * Format: date-time
             * @description When it was paused; null while it is not.
             */
            since: string | null;
        };
        /** @description Pauses or resumes deliveries. */
        SetSending: {
            paused: boolean;
            /** @description Whose sending; without it, everybody's. */
            organization_id?: string;
        };
        /** @description What waits, what happened lately, and what needs a look. */
        Stats: {
            /** @constant */
            object: "stats";
            /** Format: date-time */
            at: string;
            /**
             * @description A count of so many means so many or more.
             * @constant
             */
            counts_stop_at: 10000;
            /** @description The parts that are null because they did not answer within their time. Empty on a healthy system. */
            unanswered: ("sending" | "outbox" | "deliveries" | "last_minute" | "last_hour" | "webhooks" | "queues" | "partitions" | "retention" | "delivery_policy")[];
            sending: {
                paused: boolean;
                /** Format: date-time */
                since: string | null;
                /** @description Counted up to `counts_stop_at`. */
                paused_organizations: number;
                /** @description The first 100 that are paused by themselves. */
                organizations: {
                    organization_id: string;
                    /** Format: date-time */
                    since: string;
                }[];
            } | null;
            outbox: {
                /** @description Counted up to `counts_stop_at`. */
                events: number;
                /** @description Null while there is none. */
                oldest_seconds: number | null;
                /** @description Events whose deliveries the database refuses. */
                parked_events: number;
            } | null;
            deliveries: {
                /** @description Counted up to `counts_stop_at`. */
                pending: number;
                /** @description Counted up to `counts_stop_at`. */
                due: number;
                /** @description Due for longer than a minute. */
                overdue: number;
            } | null;
            last_minute: components["schemas"]["DeliveriesOfPeriod"] | null;
            last_hour: components["schemas"]["DeliveriesOfPeriod"] | null;
            webhooks: {
                /** @description Counted up to `counts_stop_at`. */
                open_circuits: number;
                /** @description Disabled because no attempt had succeeded for five days. */
                disabled_failing: number;
                /** @description Disabled because their endpoints answered 410. */
                disabled_gone: number;
            } | null;
            queues: components["schemas"]["QueueCounts"][] | null;
            partitions: {
                /** @description `2026-11` */
                oldest_month: string | null;
                newest_month: string | null;
            } | null;
            retention: {
                /** Format: date-time */
                bodies_removed_until: string | null;
                /** Format: date-time */
                keys_removed_until: string | null;
                /** Format: date-time */
                completed_at: string | null;
                /** @description Months past their time that something pending keeps. */
                kept_months: number;
            } | null;
            delivery_policy: {
                /** @description Workers that have reported their settings within the last three minutes. */
                workers: number;
                /** @description How many of them have other settings than this API process. */
                differing_workers: number;
                /** @description The fields of the delivery policy in which they differ. Customers see the values of the API. */
                differing_fields: string[];
            } | null;
        };
        /** @description The fields to change; the others stay as they are. */
        UpdateApiKey: {
            name?: string;
            /** @description What the key may do. */
            scopes?: components["schemas"]["Scope"][];
            /** @description Addresses and CIDRs that the key may be used from; null: from anywhere. */
            ip_allowlist?: string[] | null;
            /**
             * Format: date-time
             * @description When the key stops being valid; null: never.
             */
            expires_at?: string | null;
        };
        /** @description The fields to change; the others stay as they are. */
        UpdateOrganization: {
            name?: string;
            plan?: components["schemas"]["Plan"];
            /** @description The caller's own id of the organization. No two organizations have the same. */
            external_id?: string | null;
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
