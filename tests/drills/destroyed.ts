import type { ApiClient, ApiCustomer, HttpAnswer } from '@enterprise-api/testkit';
import type { AcceptedEvent } from './load.ts';

/** What is known of a system that is gone. */
export interface Destroyed {
  /** Accepted when the restore point was set. */
  before: readonly AcceptedEvent[];
  accepted: readonly AcceptedEvent[];
  /** Ids of deliveries that arrived and were answered 200. */
  delivered: ReadonlySet<string>;
  /** The id of an event that was erased behind the restore point. */
  erased: string;
  /** The export of its erasure. */
  exported: string;
  customer: ApiCustomer;
  /** Of the webhook at `/hook`. */
  secret: string;
  /** The answer to {@link idempotentWebhook}. */
  keyed: HttpAnswer;
  /** Of the list of events, oldest first: from before the restore point, and from behind it. */
  cursors: { before: string; behind: string };
  /** When it had ended, in milliseconds since 1970. */
  at: number;
}

/** The path that refuses everything until the system is restored: its deliveries are pending meanwhile. */
export const later = '/later';

/** Creates a webhook with an Idempotency-Key: the second time with the first answer. */
export function idempotentWebhook({ call }: Pick<ApiClient, 'call'>, url: string): Promise<HttpAnswer> {
  return call('POST', '/v1/webhooks', { url, events: ['batch.failed'] }, { 'idempotency-key': 'drill' });
}
