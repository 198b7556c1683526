import type { Change } from '@enterprise-api/shared/ledger';
import { BoundedMap, type Clock, type Uuid } from '@enterprise-api/shared/runtime';
import type { StoredKey } from './queries.ts';

/** Keys and sessions of the console present credentials of different shapes. */
export type CredentialKind = 'key' | 'session';

interface KeyCacheOptions {
  /** Without a kind, the hash may belong to a key or to a session. */
  find: (hash: Buffer, kind?: CredentialKind) => Promise<StoredKey | null>;
  clock: Pick<Clock, 'monotonic'>;
  maxEntries?: number;
}

interface Entry {
  readonly key: StoredKey | null;
  /** Monotonic time before the query was sent. */
  readonly askedAtMs: number;
  fresh: boolean;
}

interface LookUp {
  answer: Promise<StoredKey | null>;
  readonly changedIds: Set<Uuid>;
  changesLost: boolean;
}

const keyFreshMs = 4_000;
const absenceFreshMs = 1_000;
const keyReadsOnMs = 60 * 1_000;

/**
 * Caches keys by their hash. A pushed change applies at once. If the push is lost, the change applies within 4 s, or
 * within 5 s on a busy machine. The absence of a key is cached for 1 s only, because a new key must work by then.
 */
export class KeyCache {
  readonly #find: KeyCacheOptions['find'];
  readonly #clock: KeyCacheOptions['clock'];
  readonly #entries: Map<string, Entry>;
  readonly #lookUps = new Map<string, LookUp>();

  constructor({ find, clock, maxEntries = 20_000 }: KeyCacheOptions) {
    this.#find = find;
    this.#clock = clock;
    this.#entries = new BoundedMap(maxEntries);
  }

  /** Returns the cached key; null if the key does not exist; undefined if the database must be queried. */
  peek(hash: string): StoredKey | null | undefined {
    const entry = this.#entries.get(hash);
    if (entry === undefined || !entry.fresh) return undefined;
    return this.#ageMs(entry) < (entry.key === null ? absenceFreshMs : keyFreshMs) ? entry.key : undefined;
  }

  /**
   * Queries the database, once for all concurrent requests.
   *
   * @param readOnly if true, a key that was read within the last minute suffices while the database is unavailable
   * @throws the database's error
   */
  async load(hash: string, readOnly: boolean, kind?: CredentialKind): Promise<StoredKey | null> {
    try {
      return await this.#lookUp(hash, kind).answer;
    } catch (error) {
      const entry = this.#entries.get(hash);
      if (!readOnly || !entry?.key || this.#ageMs(entry) >= keyReadsOnMs) throw error;
      return entry.key;
    }
  }

  readonly onChange = (change: Change): void => {
    if (!kindsOfKeys.has(change.kind)) return;
    for (const lookUp of this.#lookUps.values()) lookUp.changedIds.add(change.id);
    for (const [hash, { key }] of this.#entries) {
      if (key === null || idsOf(key).includes(change.id)) this.#entries.delete(hash);
    }
  };

  /** Call after notifications may have been lost: every cached key must be read again. */
  readonly onLost = (): void => {
    for (const lookUp of this.#lookUps.values()) lookUp.changesLost = true;
    for (const entry of this.#entries.values()) entry.fresh = false;
  };

  #lookUp(hash: string, kind?: CredentialKind): LookUp {
    const underWay = this.#lookUps.get(hash);
    if (underWay !== undefined) return underWay;
    const lookUp: LookUp = { answer: Promise.resolve(null), changedIds: new Set(), changesLost: false };
    this.#lookUps.set(hash, lookUp);
    lookUp.answer = this.#ask(hash, lookUp, kind).finally(() => this.#lookUps.delete(hash));
    return lookUp;
  }

  async #ask(hash: string, lookUp: LookUp, kind?: CredentialKind): Promise<StoredKey | null> {
    const askedAtMs = this.#clock.monotonic();
    const key = await this.#find(Buffer.from(hash, 'hex'), kind);
    // Do not cache a row that may be older than a change received meanwhile.
    if (!isOvertaken(lookUp, key)) this.#entries.set(hash, { key, askedAtMs, fresh: true });
    return key;
  }

  #ageMs(entry: Entry): number {
    return this.#clock.monotonic() - entry.askedAtMs;
  }
}

function isOvertaken({ changesLost, changedIds }: LookUp, key: StoredKey | null): boolean {
  if (changesLost || key === null) return changesLost || changedIds.size > 0;
  return idsOf(key).some((id) => changedIds.has(id));
}

const kindsOfKeys: ReadonlySet<Change['kind']> = new Set(['api_key', 'organization', 'console_session']);

/** The objects whose change makes the cached key outdated. */
function idsOf({ id, organization, session }: StoredKey): Uuid[] {
  return [id, organization.id, ...(session?.keyId ? [session.keyId] : [])];
}
