import type { WebhookEvent, WebhookVerificationError } from '../webhooks/index.ts';

/** How the stream of events is followed. The functions are called in order with the events, never beside one. */
export interface StreamOptions {
  /** Patterns as webhooks have them: `batch.*`; all events by default. */
  events?: readonly string[] | undefined;
  /** The id of the event after which the stream begins; by default it begins now. */
  after?: string | undefined;
  /** Ends the stream, without an error: no event comes after it. */
  signal?: AbortSignal | undefined;
  /** Called when a connection was made, with the secret that signs its events: each connection has one of its own. */
  onConnect?: ((secret: string) => void) | undefined;
  /**
   * Called when a connection was lost or refused for now, with the time until the next try in milliseconds; `null` when
   * the API ended the stream.
   */
  onDisconnect?: ((reason: Error | null, retryMs: number) => void) | undefined;
  /**
   * Called in place of an event that is not signed with the secret of its connection; the stream goes on after it.
   * Without this function the stream ends with the error.
   */
  onUnverified?: ((message: UnverifiedEvent, error: WebhookVerificationError) => void) | undefined;
}

/** A message of the stream as it came. */
export interface UnverifiedEvent {
  /** The place in the stream: `after` goes on from here. */
  id: string;
  /** Those that a delivery of the event would have. */
  headers: Readonly<Record<string, string>>;
  /** The exact text that is signed. */
  body: string;
}

/** A message of the stream whose signature was verified, with its event. */
export interface StreamedEvent extends UnverifiedEvent {
  event: WebhookEvent;
}
