// Made from docs/internal-openapi.json by `npm run openapi`. Not to be changed by hand.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An API key, without its secret. */
        ApiKey: {
            /** @description Id of the API key. */
            id: string;
            /** @description A name for people; null if the organization is closed. */
            name: string | null;
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
            /**
             * @description Always `api_key`.
             * @constant
             */
            object: "api_key";
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * @description Whether requests from outside the allowlist are refused (`enforce`), or served and counted (`report`).
             * @enum {string}
             */
            ip_allowlist_mode: "enforce" | "report";
            /** @description Requests from outside the allowlist since the list last changed; null in the mode `enforce`. Shows a request within 10 s. */
            outside_allowlist: {
                /** @description How many requests came from outside. */
                count: number;
                /**
                 * Format: date-time
                 * @description When the newest one arrived; null: none has.
                 */
                last_at: string | null;
                /** @description The newest 20 addresses, the newest first. */
                addresses: string[];
            } | null;
            /** @description The address that the last use came from; null: unknown. */
            last_used_address: string | null;
            /** @description `User-Agent` of the last use: its first 200 printable ASCII characters; null: none. */
            last_used_user_agent: string | null;
        };
        /** @description A page of a list. */
        ApiKeyList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["ApiKey"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
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
        /**
         * @description The action.
         * @enum {string}
         */
        AuditAction: "organization.created" | "organization.updated" | "organization.closed" | "api_key.created" | "api_key.updated" | "api_key.deleted" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.deleted" | "webhook.disabled" | "webhook.recovered" | "webhook.tested" | "webhook.replayed" | "webhook.paused" | "webhook.resumed" | "delivery.retried" | "event.read" | "sending.paused" | "sending.resumed" | "erasure.requested" | "replay.canceled" | "console_session.created" | "console_session.entered" | "console_session.link_reused" | "console_session.ended";
        /** @description An action on an organization, a key, a webhook, a delivery, an erasure or a replay; a pause of all sending; or the reading of an event by an operator. */
        AuditEntry: {
            /** @description Id of the audit entry. */
            id: string;
            /**
             * @description Always `audit_entry`.
             * @constant
             */
            object: "audit_entry";
            /** @description `key_…` for a request to `/v1`, `ses_…` for one of a console session, `internal` for one to the internal listener, `webhook-worker` for a worker. */
            actor: string;
            /** @description The action, such as `webhook.updated`. */
            action: components["schemas"]["AuditAction"];
            /**
             * @description The kind of the object that changed or was read.
             * @enum {string}
             */
            object_type: "organization" | "api_key" | "webhook" | "delivery" | "event" | "sending" | "erasure" | "replay" | "console_session";
            /** @description Id of the object that changed or was read. Null: all sending was paused or resumed. */
            object_id: (string) | null;
            /** @description Id of the organization. Null: the change concerns all organizations. */
            organization_id: string | null;
            /** @description `X-Request-Id` of the request; null if a worker made the change, or if the organization is closed. */
            request_id: string | null;
            /** @description `X-Actor` of the request: the person or system that asked the internal caller to act; null if the organization is closed. */
            on_behalf_of: string | null;
            /** @description The names of the changed fields. */
            changed_fields: string[];
            /** @description The changed fields that hold no secret, with their values before and after. */
            changes: {
                [key: string]: {
                    /** @description The value before; null: none. */
                    from: string | number | boolean | null | string[];
                    /** @description The value after; null: none. */
                    to: string | number | boolean | null | string[];
                };
            };
            /**
             * Format: date-time
             * @description When it was done.
             */
            created_at: string;
        };
        /** @description A page of a list. */
        AuditEntryList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["AuditEntry"][];
            /** @description Whether there are more items behind this page. */
            has_more: boolean;
            /** @description `cursor` of the next page; null when there is none. */
            next_cursor: string | null;
        };
        CloseOrganization: {
            /** @description The id of the organization again. */
            confirm: string;
            /**
             * @description After how many seconds the organization's data is erased.
             * @default 0
             */
            erase_after?: number;
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
        CreateApiKey: {
            /** @description A name for people. */
            name: string;
            /** @description What the key may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description Addresses and CIDRs that the key may be used from; null: from anywhere. */
            ip_allowlist?: string[] | null;
            /**
             * @description Whether requests from outside the allowlist are refused (`enforce`), or served and counted (`report`).
             * @enum {string}
             */
            ip_allowlist_mode?: "enforce" | "report";
            /**
             * Format: date-time
             * @description When the key stops being valid; null: never.
             */
            expires_at?: string | null;
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
        /** @description A selection of events: exactly one of `subject`, `event_ids`, `before` and `all`. */
        CreateErasure: {
            /** @description Id of the organization. */
            organization_id: string;
            /** @description Erases the events with this subject, such as a `consultation_id` or a `batch_id`, exactly. */
            subject?: string;
            /** @description Erases these events. Ids of other events are ignored. */
            event_ids?: string[];
            /**
             * Format: date-time
             * @description Erases the events that were accepted before this time.
             */
            before?: string;
            /**
             * @description Erases every event.
             * @constant
             */
            all?: true;
            /** @description A ticket number, never a name: the receipt keeps it. It must not contain the subject. */
            reason?: string;
            /**
             * @description Whether to count what would be erased, and to erase nothing.
             * @default false
             */
            dry_run?: boolean;
            /** @description The `organization_id` again; `before` and `all` need it. */
            confirm?: string;
        };
        CreateOrganization: {
            /** @description A name for people. */
            name: string;
            /** @description Its plan. */
            plan: components["schemas"]["Plan"];
            /** @description The caller's own id of the organization. No two organizations have the same. */
            external_id?: string | null;
        };
        /** @description An API key with its secret, which no other answer shows. */
        CreatedApiKey: {
            /** @description Id of the API key. */
            id: string;
            /** @description A name for people; null if the organization is closed. */
            name: string | null;
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
            /**
             * @description Always `api_key`.
             * @constant
             */
            object: "api_key";
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * @description Whether requests from outside the allowlist are refused (`enforce`), or served and counted (`report`).
             * @enum {string}
             */
            ip_allowlist_mode: "enforce" | "report";
            /** @description Requests from outside the allowlist since the list last changed; null in the mode `enforce`. Shows a request within 10 s. */
            outside_allowlist: {
                /** @description How many requests came from outside. */
                count: number;
                /**
                 * Format: date-time
                 * @description When the newest one arrived; null: none has.
                 */
                last_at: string | null;
                /** @description The newest 20 addresses, the newest first. */
                addresses: string[];
            } | null;
            /** @description The address that the last use came from; null: unknown. */
            last_used_address: string | null;
            /** @description `User-Agent` of the last use: its first 200 printable ASCII characters; null: none. */
            last_used_user_agent: string | null;
            /** @description The key itself. */
            secret: string;
        };
        /** @description Sessions of the database that wait for locks or hold them for long. */
        DatabaseLocks: {
            /**
             * @description Always `database_locks`.
             * @constant
             */
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
        /** @description The sizes of our tables, and the organizations and webhooks with the largest backlogs. */
        DatabaseSizes: {
            /**
             * @description Always `database_sizes`.
             * @constant
             */
            object: "database_sizes";
            /**
             * Format: date-time
             * @description When the database was asked.
             */
            at: string;
            /** @description The size of the database. */
            bytes: number;
            /** @description Our tables, the largest first. Null if it did not answer within 2 s. */
            tables: {
                /** @description The name of the table. */
                name: string;
                /** @description Its size with its partitions, indexes and large values. */
                bytes: number;
                /** @description The size of its indexes, which `bytes` includes. */
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
            }[] | null;
            /** @description Organizations with the most events that are not fanned out. Null if it did not answer within 2 s. */
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
            }[] | null;
            /** @description Webhooks with the most deliveries that are due for more than a minute. Excludes paused deliveries. Null if it did not answer within 2 s. */
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
            }[] | null;
            /** @description Deliveries that were leased more than three times and not sent: they may crash their workers. Null if it did not answer within 2 s. */
            leased_often: {
                /** @description The delivery. */
                delivery_id: string;
                /** @description How many leases ended without a recorded attempt. */
                leases: number;
            }[] | null;
            /** @description Events whose deliveries the database refuses, the oldest first. Null if it did not answer within 2 s. */
            parked_events: {
                /** @description The event. */
                event_id: string;
                /** @description Its organization. */
                organization_id: string;
                /** @description The SQLSTATE, and the constraint or table that refused its deliveries. */
                reason: string;
                /** @description How often its fan-out has failed. */
                failures: number;
                /**
                 * Format: date-time
                 * @description When its fan-out is tried again.
                 */
                retry_at: string;
            }[] | null;
        };
        /** @description The activity of our connections to the database, and our slowest statements. */
        DatabaseStatements: {
            /**
             * @description Always `database_statements`.
             * @constant
             */
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
                /** @description How many connections have this name and state. */
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
                /** @description The total time of its runs. */
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
        /** @description The deliveries that were created in a period, by their status now: at most the newest `counts_stop_at`. */
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
            /** @description Failed attempts of any delivery that were recorded in this period. */
            failed_attempts: number;
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
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The type of the event. */
            type: components["schemas"]["EmittableEventType"];
            /** @description Any fields, passed on as they are: at most 256 KiB as JSON, nested at most 20 deep. `consultation.*` needs `consultation_id` and `batch.*` needs `batch_id`, strings of 1 to 200 characters. */
            data: {
                [key: string]: unknown;
            };
            /** @description The producer's own id. If an event of the organization has this id already, no new event is made. */
            id?: string;
            /**
             * Format: date-time
             * @description When it happened; the time of acceptance by default.
             */
            occurred_at?: string;
        };
        /** @description Events, all or nothing. */
        EmitEvents: {
            /** @description The events. */
            events: components["schemas"]["EmitEvent"][];
        };
        /** @description One event, or up to 1,000. */
        EmitRequest: components["schemas"]["EmitEvents"] | components["schemas"]["EmitEvent"];
        /**
         * @description A type of event that internal services emit.
         * @enum {string}
         */
        EmittableEventType: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure";
        /** @description An event that was accepted. */
        EmittedEvent: {
            /** @description Id of the event. */
            id: string;
            /** @description The type of the event. */
            type: components["schemas"]["EventTypeName"];
            /** @description Id of the organization. */
            organization_id: string;
            /** @description Whether an earlier event has the same producer id. `id` then names the earlier event. */
            duplicate: boolean;
        };
        /** @description The events that were accepted, in the order of the request. */
        EmittedEvents: {
            /** @description The events, in the order of the request. */
            data: components["schemas"]["EmittedEvent"][];
        };
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
        /** @description An erasure, a closing or a revocation that must be done again after a restore. It holds no erased value. */
        ErasureRecord: {
            /**
             * @description Always `erasure_record`.
             * @constant
             */
            object: "erasure_record";
            /**
             * @description An erasure, the closing of an organization, or the revocation of a key.
             * @enum {string}
             */
            kind: "erasure" | "closing" | "revocation";
            /** @description Id of the erasure, the organization or the key. */
            id: string;
            /** @description Id of the organization. */
            organization_id: string;
            /**
             * Format: date-time
             * @description When it was requested; of a closing, when its data are due to be erased. UTC with microseconds.
             */
            at: string;
            /** @description The selection; null unless this is an erasure. */
            selection: {
                /**
                 * @description How the events were selected.
                 * @enum {string}
                 */
                kind: "subject" | "event_ids" | "before" | "all";
                /** @description The digest of the receipt. */
                sha256: string;
                /** @description The selected ids; null unless ids were selected. */
                event_ids: string[] | null;
                /**
                 * Format: date-time
                 * @description The selected time; null unless a time was selected.
                 */
                before: string | null;
            } | null;
            /** @description Why, as the caller said; null if the caller did not say. */
            reason: string | null;
        };
        /** @description A page of a list. */
        ErasureRecordList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["ErasureRecord"][];
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
        /** @description An event without its data. */
        EventSummary: {
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
            /**
             * Format: date-time
             * @description When its data was erased; null unless it was.
             */
            erased_at: string | null;
        };
        /** @description A page of a list. */
        EventSummaryList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
            data: components["schemas"]["EventSummary"][];
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
        /** @description A delivery with its organization and its attempts. */
        InspectedDelivery: {
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The delivery, as its owner sees it. */
            delivery: components["schemas"]["Delivery"];
            /** @description The attempts, the newest first. */
            attempts: components["schemas"]["Attempt"][];
        };
        /** @description An event with its data and the webhooks that got it. */
        InspectedEvent: {
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
            /** @description The webhooks that have a delivery of the event. */
            webhooks: {
                /** @description Id of the webhook. */
                id: string;
                /** @description Its current URL; null if the webhook is no longer stored. */
                url: string | null;
                /** @description Id of the delivery. */
                delivery_id: string;
                /** @description The state of the delivery. */
                status: components["schemas"]["DeliveryStatus"];
            }[];
        };
        /** @description A webhook with its organization and its health. */
        InspectedWebhook: {
            /** @description Id of the organization. */
            organization_id: string;
            /** @description The webhook, as its owner sees it. */
            webhook: components["schemas"]["Webhook"];
            /** @description True if an operator paused all deliveries, or the deliveries of its organization. */
            sending_paused: boolean;
            /** @description How its recent attempts ended. */
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
            /** @description False stops its deliveries and cancels pending ones. */
            enabled: boolean;
        };
        /** @description A customer of the service, with one plan, API keys and webhooks. */
        Organization: {
            /** @description Id of the organization. */
            id: string;
            /**
             * @description Always `organization`.
             * @constant
             */
            object: "organization";
            /** @description A name for people; null if the organization is closed. */
            name: string | null;
            /** @description Its plan. */
            plan: components["schemas"]["Plan"];
            /** @description The caller's own id of the organization. */
            external_id: string | null;
            /**
             * @description `closing`: nothing works for it any more, and its data will be erased; `closed`: its data is erased.
             * @enum {string}
             */
            state: "active" | "closing" | "closed";
            /**
             * Format: date-time
             * @description When its data was erased; null unless it is closed.
             */
            closed_at: string | null;
            /** @description How long its event data and the answers of its receivers are stored, at most the setting `RETENTION_BODIES`; null: as long as the setting. */
            body_retention_seconds: number | null;
            /** @description Whether it gets a copy of every other organization's operational events. */
            operator: boolean;
            /**
             * Format: date-time
             * @description When the organization was created.
             */
            created_at: string;
        };
        /** @description A page of a list. */
        OrganizationList: {
            /**
             * @description Always `list`.
             * @constant
             */
            object: "list";
            /** @description The items of this page. */
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
            /** @description The keys that verify identity tokens. */
            keys: {
                /**
                 * @description Always `OKP`.
                 * @constant
                 */
                kty: "OKP";
                /**
                 * @description Always `Ed25519`.
                 * @constant
                 */
                crv: "Ed25519";
                /**
                 * @description Always `EdDSA`.
                 * @constant
                 */
                alg: "EdDSA";
                /**
                 * @description Always `sig`.
                 * @constant
                 */
                use: "sig";
                /** @description Id of the key, as in the header of tokens. */
                kid: string;
                /** @description The public key, in base64url. */
                x: string;
            }[];
        };
        /** @description The jobs of a queue, by state. */
        QueueCounts: {
            /** @description The name of the queue. */
            name: string;
            /** @description Whether workers take no jobs from it. */
            is_paused: boolean;
            /** @description Jobs that wait for a worker. */
            waiting: number;
            /** @description Jobs that run. */
            active: number;
            /** @description Jobs that are due later. */
            delayed: number;
            /** @description Jobs that failed. */
            failed: number;
            /** @description Processes that take its jobs; null if the server cannot tell. */
            workers: number | null;
        };
        /** @description The counts of every queue, and the newest jobs of one queue in one state, without the data of events. */
        QueueJobs: {
            /**
             * @description Always `queue_jobs`.
             * @constant
             */
            object: "queue_jobs";
            /** @description The counts of every queue. */
            queues: components["schemas"]["QueueCounts"][];
            /**
             * @description The queue of the jobs.
             * @enum {string}
             */
            queue: "events" | "event-writes";
            /**
             * @description The state of the jobs.
             * @enum {string}
             */
            state: "waiting" | "active" | "delayed" | "failed";
            /** @description The newest 50 jobs. */
            jobs: {
                /** @description Id of the job in its queue. */
                id: string;
                /** @description The kind of job. */
                name: string;
                /**
                 * Format: date-time
                 * @description When it was added.
                 */
                added_at: string;
                /** @description How often a worker has started it. */
                attempts: number;
                /** @description Why it failed; null if it did not. */
                failed_reason: string | null;
                /** @description The first events that it names. */
                event_ids: string[];
            }[];
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
        /**
         * @description A permission of a key. `*` grants every other scope.
         * @enum {string}
         */
        Scope: "me:read" | "consultations:read" | "consultations:write" | "batches:read" | "batches:write" | "panels:read" | "usage:read" | "webhooks:read" | "webhooks:write" | "automations:read" | "automations:write" | "automations:trigger" | "chat.completions" | "scim:read" | "scim:write" | "*";
        /** @description Whether deliveries are paused, for all organizations or for one. The two pauses are independent. */
        Sending: {
            /** @description Whether deliveries are paused. */
            paused: boolean;
            /** @description Id of the organization. Null: all deliveries. */
            organization_id: string | null;
            /**
             * Format: date-time
             * @description When it was paused; null while it is not.
             */
            since: string | null;
        };
        /** @description Pauses or resumes deliveries. */
        SetSending: {
            /** @description Whether to pause or to resume. */
            paused: boolean;
            /** @description The organization; without it, all deliveries. */
            organization_id?: string;
        };
        /** @description The backlog, recent results, and problems. */
        Stats: {
            /**
             * @description Always `stats`.
             * @constant
             */
            object: "stats";
            /**
             * Format: date-time
             * @description When the statistics were taken.
             */
            at: string;
            /**
             * @description A count that reaches this number means this many or more.
             * @constant
             */
            counts_stop_at: 10000;
            /** @description The parts that are null because they did not answer within their time. Empty on a healthy system. */
            unanswered: ("sending" | "outbox" | "deliveries" | "last_minute" | "last_hour" | "webhooks" | "queues" | "partitions" | "retention" | "delivery_policy")[];
            /** @description Pauses. */
            sending: {
                /** @description Whether all deliveries are paused. */
                paused: boolean;
                /**
                 * Format: date-time
                 * @description When they were paused; null if they are not.
                 */
                since: string | null;
                /** @description Organizations whose deliveries are paused. */
                paused_organizations: number;
                /** @description The first 100 paused organizations. */
                organizations: {
                    /** @description Id of the organization. */
                    organization_id: string;
                    /**
                     * Format: date-time
                     * @description When its deliveries were paused.
                     */
                    since: string;
                }[];
            } | null;
            /** @description Events that wait for fan-out. */
            outbox: {
                /** @description Events that are not fanned out yet. */
                events: number;
                /** @description The age of the oldest; null if there are none. */
                oldest_seconds: number | null;
                /** @description Events whose deliveries the database refuses. */
                parked_events: number;
            } | null;
            /** @description Deliveries that wait. */
            deliveries: {
                /** @description Deliveries that wait for an attempt. */
                pending: number;
                /** @description Pending deliveries that are due. */
                due: number;
                /** @description Pending deliveries that have been due for more than a minute, except those that a pause, a hold or a limit stops. */
                overdue: number;
            } | null;
            /** @description Deliveries that were created in the last minute. */
            last_minute: components["schemas"]["DeliveriesOfPeriod"] | null;
            /** @description Deliveries that were created in the last hour. */
            last_hour: components["schemas"]["DeliveriesOfPeriod"] | null;
            /** @description Webhooks with problems. */
            webhooks: {
                /** @description Webhooks whose circuit breaker is open. */
                open_circuits: number;
                /** @description Disabled because no attempt had succeeded for five days. */
                disabled_failing: number;
                /** @description Disabled because their endpoints answered 410. */
                disabled_gone: number;
            } | null;
            /** @description The jobs of every queue. */
            queues: components["schemas"]["QueueCounts"][] | null;
            /** @description The monthly partitions of the ledger. */
            partitions: {
                /** @description The month of the oldest partition, such as `2026-11`. */
                oldest_month: string | null;
                /** @description The month of the newest partition. */
                newest_month: string | null;
            } | null;
            /** @description The progress of retention. */
            retention: {
                /**
                 * Format: date-time
                 * @description Bodies of older events are removed.
                 */
                bodies_removed_until: string | null;
                /**
                 * Format: date-time
                 * @description Producer ids of older events are removed.
                 */
                keys_removed_until: string | null;
                /**
                 * Format: date-time
                 * @description When retention last completed.
                 */
                completed_at: string | null;
                /** @description Months past retention that are kept because something in them is pending. */
                kept_months: number;
            } | null;
            /** @description Whether workers and this API process have the same delivery settings. */
            delivery_policy: {
                /** @description Workers that have reported their settings within the last three minutes. */
                workers: number;
                /** @description How many of them have other settings than this API process. */
                differing_workers: number;
                /** @description The fields of the delivery policy in which they differ. Customers see the values of the API. */
                differing_fields: string[];
            } | null;
        };
        /**
         * @description A type of event that webhooks can subscribe to.
         * @enum {string}
         */
        SubscribableEventType: "consultation.completed" | "consultation.failed" | "batch.completed" | "batch.failed" | "batch.partial_failure" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "api_key.expiring" | "api_key.expired" | "replay.finished";
        /** @description The fields to change; the others stay as they are. */
        UpdateApiKey: {
            /** @description A name for people. */
            name?: string;
            /** @description What the key may do. */
            scopes?: components["schemas"]["Scope"][];
            /** @description Addresses and CIDRs that the key may be used from; null: from anywhere. */
            ip_allowlist?: string[] | null;
            /**
             * @description Whether requests from outside the allowlist are refused (`enforce`), or served and counted (`report`).
             * @enum {string}
             */
            ip_allowlist_mode?: "enforce" | "report";
            /**
             * Format: date-time
             * @description When the key stops being valid; null: never.
             */
            expires_at?: string | null;
        };
        /** @description The fields to change; the others stay as they are. */
        UpdateOrganization: {
            /** @description A name for people. */
            name?: string;
            /** @description Its plan. */
            plan?: components["schemas"]["Plan"];
            /** @description The caller's own id of the organization. No two organizations have the same. */
            external_id?: string | null;
            /** @description How long its event data and the answers of its receivers are stored, at most the setting `RETENTION_BODIES`; null: as long as the setting. */
            body_retention_seconds?: number | null;
            /** @description Whether it gets a copy of every other organization's operational events. */
            operator?: boolean;
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
