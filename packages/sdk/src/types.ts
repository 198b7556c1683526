export type {
  Attempt,
  Delivery,
  DeliveryDetail,
  ErrorBody as ApiErrorBody,
  ErrorCode as ApiErrorCode,
  ErrorDetail as ApiErrorDetail,
  ErrorType as ApiErrorType,
  EventTypeEntry,
  Me,
  Replay,
  Usage,
  Webhook,
  WebhookWithSecret,
} from '@enterprise-api/shared/contracts';

/** RFC 3339, or a Date. */
export type Instant = string | Date;

export interface CreateWebhook {
  url: string;
  events: string[];
  description?: string | null | undefined;
  enabled?: boolean | undefined;
}
export type UpdateWebhook = Partial<CreateWebhook>;
export interface RotateSecret {
  overlap_seconds?: number | undefined;
  force?: boolean | undefined;
}
export interface ReplayRequest {
  since: Instant;
  until?: Instant | undefined;
  status?: ('failed' | 'canceled' | 'succeeded')[] | undefined;
}
interface ListQuery {
  /** Items per page, 1 to 100. */
  limit?: number | undefined;
  cursor?: string | undefined;
}
export interface ListWebhooks extends ListQuery {
  enabled?: boolean | undefined;
}
export interface ListDeliveries extends ListQuery {
  order?: 'asc' | 'desc' | undefined;
  webhook_id?: string | undefined;
  event_id?: string | undefined;
  event_type?: string | string[] | undefined;
  status?: string | string[] | undefined;
  since?: Instant | undefined;
  until?: Instant | undefined;
}
export interface ListEvents extends ListQuery {
  order?: 'asc' | 'desc' | undefined;
  type?: string | string[] | undefined;
  since?: Instant | undefined;
  until?: Instant | undefined;
}
export interface GetUsage {
  since?: Instant | undefined;
  until?: Instant | undefined;
  granularity?: 'hour' | 'day' | 'month' | undefined;
  group_by?: 'key' | 'area' | undefined;
}
export interface Event {
  id: string;
  object: 'event';
  type: string;
  created_at: string;
  occurred_at: string | null;
  data: Record<string, unknown>;
}
