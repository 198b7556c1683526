import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions, ChangeOptions, PostOptions } from '../options.ts';
import type {
  CreateWebhook,
  Delivery,
  DeliveryPolicy,
  EventTypeEntry,
  ExplainType,
  Explanation,
  GetWebhookStatistics,
  ListWebhookHealth,
  ListWebhooks,
  PauseWebhook,
  Replay,
  ReplayPreview,
  ReplayRequest,
  ResumeWebhook,
  RotateSecret,
  SignatureCheck,
  SourceAddresses,
  TestWebhook,
  UpdateWebhook,
  VerifySignature,
  Webhook,
  WebhookHealth,
  WebhookHealthSummary,
  WebhookStatistics,
  WebhookWithSecret,
} from '../types.ts';

/** Registered URLs, with the events they subscribe to. */
export function createWebhooks({ get, list, post, patch, delete: remove }: Operations) {
  return {
    /** Only this answer shows the webhook's secret. */
    create: (webhook: CreateWebhook, options?: PostOptions) =>
      post<WebhookWithSecret>('/v1/webhooks', webhook, options),
    list: (query?: ListWebhooks, options?: CallOptions) => list<Webhook>('/v1/webhooks', { ...query }, options),
    get: (id: string, options?: CallOptions) => get<Webhook>(pathOf`/v1/webhooks/${id}`, {}, options),
    /** Changes only the given fields. */
    update: (id: string, changes: UpdateWebhook, options?: ChangeOptions) =>
      patch<Webhook>(pathOf`/v1/webhooks/${id}`, changes, options),
    /** Cancels the pending deliveries. The history stays readable. */
    delete: (id: string, options?: ChangeOptions) => remove(pathOf`/v1/webhooks/${id}`, options),
    /** Creates a new secret, which only this answer shows. During the overlap, both secrets sign. */
    rotateSecret: (id: string, rotation: RotateSecret = {}, options?: PostOptions) =>
      post<WebhookWithSecret>(pathOf`/v1/webhooks/${id}/rotate-secret`, rotation, options),
    /** Sends only tests until `resume_at`, by default for 24 hours. Deliveries wait and spend no attempt. */
    pause: (id: string, pause: PauseWebhook = {}, options?: PostOptions) =>
      post<Webhook>(pathOf`/v1/webhooks/${id}/pause`, pause, options),
    /** Ends a pause. `rate_per_second` limits the deliveries that waited. */
    resume: (id: string, resumption: ResumeWebhook = {}, options?: PostOptions) =>
      post<Webhook>(pathOf`/v1/webhooks/${id}/resume`, resumption, options),
    /** Says why your receiver refuses a signature. Shows neither secrets nor signatures. */
    verifySignature: (id: string, received: VerifySignature, options?: PostOptions) =>
      post<SignatureCheck>(pathOf`/v1/webhooks/${id}/verify-signature`, received, options),
    /** Sends a marked example of an event type to this webhook alone; `webhook.test` by default. */
    test: (id: string, test?: TestWebhook, options?: PostOptions) =>
      post<Delivery>(pathOf`/v1/webhooks/${id}/test`, test, options),
    /**
     * Sends the deliveries of a period again; by default those that failed or were canceled. `skipped` sends events that
     * the webhook never got. With `dry_run`, sends nothing and says what would be sent.
     */
    replay: <Request extends ReplayRequest>(id: string, period: Request, options?: PostOptions) =>
      post<Request extends { dry_run: true } ? ReplayPreview : Replay>(
        pathOf`/v1/webhooks/${id}/replay`,
        period,
        options,
      ),
    /** Which webhooks would get an event of a type now. Creates nothing. */
    explain: (question: ExplainType, options?: PostOptions) =>
      post<Explanation>('/v1/webhooks/explain', question, options),
    /** Whether its deliveries arrive, why attempts failed in the last 24 hours, and what to do about it. */
    health: (id: string, options?: CallOptions) => get<WebhookHealth>(pathOf`/v1/webhooks/${id}/health`, {}, options),
    /** The health of all webhooks, without causes. */
    listHealth: (query?: ListWebhookHealth, options?: CallOptions) =>
      list<WebhookHealthSummary>('/v1/webhooks/health', { ...query }, options),
    /** Attempts by minute, hour or day, with percentiles of their durations and lags; the last 24 hours by default. */
    statistics: (query?: GetWebhookStatistics, options?: CallOptions) =>
      get<WebhookStatistics>('/v1/webhooks/statistics', { ...query }, options),
    /** Lists the event types, each with a JSON Schema and an example of the whole body. */
    listEventTypes: (options?: CallOptions) => list<EventTypeEntry>('/v1/webhooks/event-types', {}, options),
    /** How often and how long deliveries are tried, and how long their history is stored. */
    deliveryPolicy: (options?: CallOptions) => get<DeliveryPolicy>('/v1/webhooks/delivery-policy', {}, options),
    /** The addresses from which deliveries come; null if they are unknown. */
    sourceAddresses: (options?: CallOptions) => get<SourceAddresses>('/v1/webhooks/source-addresses', {}, options),
  };
}
