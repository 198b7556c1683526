import type { Uuid } from '@enterprise-api/shared/runtime';
import { type GrantedUse, stillGrants } from '../auth/judge.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { Sink } from '../http/routing/streamed.ts';
import { type FeedOptions, OrganizationFeed, type Place } from './organization-feed.ts';
import { retryMessage } from './send-events.ts';

export type StreamEnd = 'client_left' | 'client_slow' | 'not_granted' | 'stopping' | 'failed';

export interface OpenStream extends Omit<GrantedUse, 'nowMs'> {
  organizationId: Uuid;
  /** SHA-256 of the stream's key, in hexadecimal. */
  keyDigest: string;
  sink: Sink;
  ending: AbortController;
}

export interface OpenStreamsOptions {
  keys: Pick<KeyCache, 'peek' | 'load'>;
  nowMs: () => number;
  read: (organizationId: Uuid, after: Place) => ReturnType<FeedOptions['read']>;
  findNewer: (waiting: readonly ({ organizationId: Uuid } & Place)[]) => Promise<Uuid[]>;
  announce: (organizationId: Uuid) => void;
  onError: (error: unknown) => void;
  random: () => number;
}

/** If the API ends a stream, clients reconnect after one to three seconds, spread at random. */
const retryAfterMs = { least: 1_000, spread: 2_000 };

export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #feeds = new Map<Uuid, { feed: OrganizationFeed; streams: number }>();
  isStopping = false;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  /** Registers a stream and returns its organization's feed. */
  add(stream: OpenStream): OrganizationFeed {
    const { read, announce, onError } = this.#options;
    const { organizationId } = stream;
    if (!this.#feeds.has(organizationId)) announce(organizationId);
    const shared = this.#feeds.get(organizationId) ?? {
      feed: new OrganizationFeed({ read: (after) => read(organizationId, after), onError }),
      streams: 0,
    };
    shared.streams += 1;
    this.#feeds.set(organizationId, shared);
    this.#streams.add(stream);
    return shared.feed;
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream);
    const shared = this.#feeds.get(stream.organizationId);
    if (shared === undefined) return;
    shared.streams -= 1;
    if (shared.streams > 0) return;
    shared.feed.close();
    this.#feeds.delete(stream.organizationId);
  }

  wake(organizationId: Uuid): void {
    this.#feeds.get(organizationId)?.feed.wake();
  }

  /** Call when any organization may have new events. */
  wakeAll(): void {
    for (const { feed } of this.#feeds.values()) feed.wake();
  }

  /** Finds events whose message was lost, by one statement for all organizations. Announces the organizations again. */
  async look(): Promise<void> {
    for (const organizationId of this.#feeds.keys()) this.#options.announce(organizationId);
    const waiting = [...this.#feeds].flatMap(([organizationId, { feed }]) => {
      const place = feed.waitsBehind();
      return place === undefined ? [] : [{ organizationId, ...place }];
    });
    if (waiting.length === 0) return;
    for (const organizationId of await this.#options.findNewer(waiting)) this.wake(organizationId);
  }

  /** Ends streams whose keys no longer permit them. Looks up each key once. */
  async checkKeys(): Promise<void> {
    const byKey = Map.groupBy(this.#streams, ({ keyDigest }) => keyDigest);
    await Promise.all([...byKey].map(([digest, streams]) => this.#checkKey(digest, streams)));
  }

  async #checkKey(digest: string, streams: readonly OpenStream[]): Promise<void> {
    const { keys, nowMs, onError } = this.#options;
    let key = keys.peek(digest);
    try {
      key ??= await keys.load(digest, true);
    } catch (error) {
      // End the streams of a key that cannot be checked. Their clients reconnect later.
      onError(error);
      for (const stream of streams) this.#end(stream, 'failed');
      return;
    }
    for (const stream of streams) {
      if (!stillGrants(key ?? null, { ...stream, nowMs: nowMs() })) this.#end(stream, 'not_granted');
    }
  }

  /** Ends all streams and tells their clients when to reconnect. Later streams end at once. */
  stop(): void {
    this.isStopping = true;
    for (const stream of this.#streams) this.#end(stream, 'stopping');
  }

  #end({ sink, ending }: OpenStream, reason: StreamEnd): void {
    if (ending.signal.aborted) return;
    ending.abort(reason);
    const { least, spread } = retryAfterMs;
    sink.end(reason !== 'not_granted' ? retryMessage(least + this.#options.random() * spread) : '');
  }
}
