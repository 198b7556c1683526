import { BoundedMap, type Clock, MicroBatcher } from '@enterprise-api/shared/runtime';
import { type SigningKey, signingKey } from '@enterprise-api/shared/security';
import type { WebhookRow } from './queries.ts';

/** A webhook as attempts use it: its secrets are decrypted and made into keys once, not per attempt. */
export interface WebhookConfig {
  id: string;
  organizationId: string;
  url: string;
  /** Organization and host: slow attempts are limited per host. */
  hostKey: string;
  state: WebhookRow['state'];
  version: number;
  /** Null when the secret cannot be decrypted: then nothing is sent. */
  keys: SigningKeys | null;
}

export interface WebhookCacheOptions {
  find: (ids: string[]) => Promise<WebhookRow[]>;
  /** Decrypts a secret of a webhook. @throws when no key of the ring fits */
  open: (sealed: string, webhook: Pick<WebhookRow, 'id' | 'organization_id'>) => string;
  clock: Clock;
  onUnreadableSecret: (webhookId: string) => void;
}

/** A change whose notification was lost is seen after this time. */
const keptForMs = 5_000;
const maxEntries = 10_000;

/** The webhooks that this worker sends to. Look-ups of one turn of the event loop are one statement. */
export class WebhookCache {
  readonly #options: WebhookCacheOptions;
  readonly #entries = new BoundedMap<string, { config: WebhookConfig; loadedAt: number }>(maxEntries);
  readonly #lookUps: MicroBatcher<string, Map<string, WebhookRow>>;
  /** Invalidations so far: a row that was read before one is not cached after it. */
  #invalidations = 0;

  constructor(options: WebhookCacheOptions) {
    this.#options = options;
    this.#lookUps = new MicroBatcher({
      run: async (ids: string[]) => new Map((await options.find([...new Set(ids)])).map((row) => [row.id, row])),
    });
  }

  /** The webhook at this version or a newer one; null when there is none. Without a promise when it is cached. */
  get(webhookId: string, atLeastVersion: number): WebhookConfig | Promise<WebhookConfig | null> {
    const entry = this.#entries.get(webhookId);
    const isUsable =
      entry !== undefined &&
      entry.config.version >= atLeastVersion &&
      this.#options.clock.monotonic() - entry.loadedAt < keptForMs;
    return isUsable ? entry.config : this.#load(webhookId);
  }

  /** The cached state, however old; null when there is none. */
  knownState(webhookId: string): WebhookConfig['state'] | null {
    return this.#entries.get(webhookId)?.config.state ?? null;
  }

  /** To be called when a webhook was changed. */
  invalidate(webhookId: string): void {
    this.#invalidations += 1;
    // Load it again at once if it is in use: an attempt that is still connecting asks for its state before the first byte.
    if (this.#entries.delete(webhookId)) this.#load(webhookId).catch(() => undefined);
  }

  /** To be called when notifications of changes may have been missed. */
  invalidateAll(): void {
    this.#invalidations += 1;
    this.#entries.clear();
  }

  async #load(webhookId: string): Promise<WebhookConfig | null> {
    const loadedAt = this.#options.clock.monotonic();
    const invalidationsBefore = this.#invalidations;
    const row = (await this.#lookUps.add(webhookId)).get(webhookId);
    if (!row) return null;
    const known = this.#entries.get(webhookId)?.config;
    // Decrypting secrets costs more than reading the row: an unchanged webhook keeps its keys.
    const config = known?.version === row.version && known.keys?.previous == null ? known : this.#toConfig(row);
    if (this.#invalidations === invalidationsBefore) this.#entries.set(webhookId, { config, loadedAt });
    return config;
  }

  #toConfig(row: WebhookRow): WebhookConfig {
    return {
      id: row.id,
      organizationId: row.organization_id,
      url: row.url,
      hostKey: hostKeyOf(row.organization_id, row.url),
      state: row.state,
      version: row.version,
      keys: this.#openKeys(row),
    };
  }

  #openKeys(row: WebhookRow): SigningKeys | null {
    const { open, clock, onUnreadableSecret } = this.#options;
    // Deleted, and its secret erased: nothing is sent any more.
    if (row.secret_sealed === null) return null;
    try {
      const current = signingKey(open(row.secret_sealed, row));
      const previousFor = row.previous_secret_for_ms ?? 0;
      if (row.previous_secret_sealed === null || previousFor <= 0) return { current, previous: null };
      const key = signingKey(open(row.previous_secret_sealed, row));
      return { current, previous: { key, expiresAt: clock.now() + previousFor } };
    } catch {
      onUnreadableSecret(row.id);
      return null;
    }
  }
}

/** The secrets of a webhook as they are now. */
export type SigningKeys = {
  current: SigningKey;
  /** The secret before the last rotation, and until when (milliseconds since 1970) it is still used. */
  previous: { key: SigningKey; expiresAt: number } | null;
};

/**
 * The organization and the host name or address literal in the URL. The port is left out: one machine has many ports,
 * and the limit protects machines. The resolved address is left out as well: large providers share one among strangers.
 */
function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}
