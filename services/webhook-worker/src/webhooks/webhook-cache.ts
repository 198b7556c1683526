import { BoundedMap, type Clock, MicroBatcher } from '@enterprise-api/shared/runtime';
import { type SigningKey, signingKey } from '@enterprise-api/shared/security';
import type { WebhookRow } from './queries.ts';

/** Contains the decrypted secrets as signing keys, so that attempts need not create them. */
export interface WebhookConfig {
  id: string;
  organizationId: string;
  url: string;
  /** Organization and host, because the scheduler limits slow attempts per organization and host. */
  hostKey: string;
  state: WebhookRow['state'];
  version: number;
  /** Null when the secret is erased or cannot be decrypted: then the worker sends nothing. */
  keys: SigningKeys | null;
}

export interface WebhookCacheOptions {
  find: (ids: string[]) => Promise<WebhookRow[]>;
  /**
   * Decrypts a secret of a webhook.
   *
   * @throws when none of the configured encryption keys fits
   */
  open: (sealed: string, webhook: Pick<WebhookRow, 'id' | 'organization_id'>) => string;
  clock: Clock;
  onUnreadableSecret: (webhookId: string) => void;
}

/** If a notification is lost, the change takes effect within this time. */
const keptForMs = 5_000;
const maxEntries = 10_000;

/** Caches the webhooks of this worker. One statement serves all look-ups of one event-loop iteration. */
export class WebhookCache {
  readonly #options: WebhookCacheOptions;
  readonly #entries = new BoundedMap<string, { config: WebhookConfig; loadedAt: number }>(maxEntries);
  readonly #lookUps: MicroBatcher<string, Map<string, WebhookRow>>;
  /** Counts invalidations, because the cache must not keep a row that was read before one. */
  #invalidations = 0;

  constructor(options: WebhookCacheOptions) {
    this.#options = options;
    this.#lookUps = new MicroBatcher({
      run: async (ids: string[]) => new Map((await options.find([...new Set(ids)])).map((row) => [row.id, row])),
    });
  }

  /**
   * Returns the webhook at this version or a newer one, or null if the webhook does not exist. Returns no promise if
   * the webhook is cached.
   */
  get(webhookId: string, atLeastVersion: number): WebhookConfig | Promise<WebhookConfig | null> {
    const entry = this.#entries.get(webhookId);
    const isUsable =
      entry !== undefined &&
      entry.config.version >= atLeastVersion &&
      this.#options.clock.monotonic() - entry.loadedAt < keptForMs;
    return isUsable ? entry.config : this.#load(webhookId);
  }

  /** Returns the cached state, however old, or null. */
  knownState(webhookId: string): WebhookConfig['state'] | null {
    return this.#entries.get(webhookId)?.config.state ?? null;
  }

  invalidate(webhookId: string): void {
    this.#invalidations += 1;
    // Reload a cached webhook at once, because a connecting attempt checks the webhook's state before the first byte.
    if (this.#entries.delete(webhookId)) this.#load(webhookId).catch(() => undefined);
  }

  /** Called when notifications of changes may have been missed. */
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
    // Decrypting secrets costs more than reading the row, so an unchanged webhook keeps its keys.
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
    // A deleted webhook's secret is erased, so the worker sends nothing.
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

export type SigningKeys = {
  current: SigningKey;
  /** The secret before the last rotation. `expiresAt` is the end of its use, in milliseconds since 1970. */
  previous: { key: SigningKey; expiresAt: number } | null;
};

/**
 * The organization, and the host name or IP literal of the URL. Excludes the port, because one machine has many ports
 * and the limit protects machines. Excludes the resolved address, because strangers share addresses at large providers.
 */
function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}
