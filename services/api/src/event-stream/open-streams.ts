import type { Uuid } from '@enterprise-api/shared/runtime';
import { type GrantedUse, stillGrants } from '../auth/judge.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { Sink } from '../http/routing/streamed.ts';
import { type FeedOptions, OrganizationFeed, type Place } from './organization-feed.ts';
import { retryMessage } from './send-events.ts';

/** Why a stream ended. */
export type StreamEnd = 'client_left' | 'client_slow' | 'not_granted' | 'stopping' | 'failed';

/** A stream that is being sent. */
export interface OpenStream extends Omit<GrantedUse, 'nowMs'> {
  organizationId: Uuid;
  /** SHA-256 of its key, in hexadecimal. */
  keyDigest: string;
  sink: Sink;
  ending: AbortController;
}

export interface OpenStreamsOptions {
  keys: Pick<KeyCache, 'peek' | 'load'>;
  /** The wall clock, which expiries are compared with. */
  nowMs: () => number;
  read: (organizationId: Uuid, after: Place) => ReturnType<FeedOptions['read']>;
  /** Of the organizations given, those with events after their position. */
  findNewer: (waiting: readonly ({ organizationId: Uuid } & Place)[]) => Promise<Uuid[]>;
  /** Tells all processes that this one has streams of the organization. */
  announce: (organizationId: Uuid) => void;
  onError: (error: unknown) => void;
  random: () => number;
}

/** Clients come back between one and three seconds after an end that is not theirs, and not all at once. */
const retryAfterMs = { least: 1_000, spread: 2_000 };

/** The streams of this process, and one feed for each organization that has some. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #feeds = new Map<Uuid, { feed: OrganizationFeed; streams: number }>();
  isStopping = false;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  /** Adds a stream until it is removed; its feed is that of its organization. */
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

  /** An organization has new events. */
  wake(organizationId: Uuid): void {
    this.#feeds.get(organizationId)?.feed.wake();
  }

  /** Any organization may have. */
  wakeAll(): void {
    for (const { feed } of this.#feeds.values()) feed.wake();
  }

  /** Finds what no push has told of, with one statement for all organizations; announces them again. */
  async look(): Promise<void> {
    for (const organizationId of this.#feeds.keys()) this.#options.announce(organizationId);
    const waiting = [...this.#feeds].flatMap(([organizationId, { feed }]) => {
      const place = feed.waitsBehind();
      return place === undefined ? [] : [{ organizationId, ...place }];
    });
    if (waiting.length === 0) return;
    for (const organizationId of await this.#options.findNewer(waiting)) this.wake(organizationId);
  }

  /** Ends the streams whose keys grant them no more; each key is looked up once. */
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
      // Nobody knows whether the key is still good, so it does not count as good. Its clients come back later.
      onError(error);
      for (const stream of streams) this.#end(stream, 'failed');
      return;
    }
    for (const stream of streams) {
      if (!stillGrants(key ?? null, { ...stream, nowMs: nowMs() })) this.#end(stream, 'not_granted');
    }
  }

  /** Ends all streams, and tells their clients when to come back. Streams that come later end at once. */
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
