import type { WebhookEvent, WebhookVerificationError } from '../webhooks/index.ts';

/** Options of the event stream. The stream calls these functions one at a time, in the order of the events. */
export interface StreamOptions {
  /** Patterns, as for webhooks: `batch.*`. All events by default. */
  events?: readonly string[] | undefined;
  /** The stream begins after the event with this id; by default it begins now. */
  after?: string | undefined;
  /** Ends the stream without an error. No further event follows. */
  signal?: AbortSignal | undefined;
  /** Called for each new connection, with the secret that signs its events. Each connection has its own secret. */
  onConnect?: ((secret: string) => void) | undefined;
  /**
   * Called when a connection is lost or temporarily refused, with the milliseconds until the next try. The reason is
   * `null` if the API ended the stream.
   */
  onDisconnect?: ((reason: Error | null, retryMs: number) => void) | undefined;
  /**
   * Called instead of yielding an event with a wrong signature; the stream then continues. Without this function, the
   * stream ends with the error.
   */
  onUnverified?: ((message: UnverifiedEvent, error: WebhookVerificationError) => void) | undefined;
}

/** An event of the stream before verification. */
export interface UnverifiedEvent {
  /** To continue after this event, pass the id as `after`. */
  id: string;
  /** The headers that a delivery of the event would have. */
  headers: Readonly<Record<string, string>>;
  /** The exact signed text. */
  body: string;
}

/** A verified message of the stream, with its event. */
export interface StreamedEvent extends UnverifiedEvent {
  event: WebhookEvent;
}
