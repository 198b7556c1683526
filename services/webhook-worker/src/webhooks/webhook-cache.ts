import { type WebhookHeaders, webhookHeadersContext, webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { BoundedMap, type Clock, MicroBatcher } from '@enterprise-api/shared/runtime';
import { type SecretBox, type SigningKey, signingKey } from '@enterprise-api/shared/security';
import type { WorkerMetrics } from '../metrics.ts';
import { findWebhooks, type WebhookRow } from './queries.ts';

/** Contains the decrypted secrets as signing keys, so that attempts need not create them. */
export interface WebhookConfig {
  id: string;
  organizationId: string;
  url: string;
  /** Organization and host, because the scheduler limits slow attempts per organization and host. */
  hostKey: string;
  state: WebhookRow['state'];
  version: number;
  /** The end of the webhook's pause, in milliseconds since 1970; 0 = not paused. */
  pausedUntil: number;
  /** Null when the secret is erased or cannot be decrypted: then the worker sends nothing. */
  keys: SigningKeys | null;
}

export interface WebhookCacheOptions {
  db: Database;
  box: Pick<SecretBox, 'open'>;
  clock: Clock;
  metrics: Pick<WorkerMetrics, 'unreadableSecrets'>;
}

/** If the notification of a change is lost, the change takes effect within this time. */
const keptForMs = 5_000;

/** Caches the webhooks of this worker. One statement serves all look-ups of one event-loop iteration. */
export class WebhookCache {
  readonly #options: WebhookCacheOptions;
  readonly #entries = new BoundedMap<string, { config: WebhookConfig; loadedAt: number }>();
  readonly #lookUps: MicroBatcher<string, Map<string, WebhookRow>>;
  /** Counts invalidations, because the cache must not keep a row that was read before an invalidation. */
  #invalidations = 0;

  constructor(options: WebhookCacheOptions) {
    this.#options = options;
    this.#lookUps = new MicroBatcher({
      run: async (ids: string[]) =>
        new Map((await findWebhooks(options.db, [...new Set(ids)])).map((row) => [row.id, row])),
    });
  }

  /** Returns the webhook at this version or a newer one, or null. Returns no promise if the webhook is cached. */
  get(webhookId: string, atLeastVersion: number): WebhookConfig | Promise<WebhookConfig | null> {
    const entry = this.#entries.get(webhookId);
    const isUsable =
      entry !== undefined &&
      entry.config.version >= atLeastVersion &&
      this.#options.clock.monotonic() - entry.loadedAt < keptForMs;
    return isUsable ? entry.config : this.#load(webhookId);
  }

  /** Returns the cached webhook, however old, or null. */
  known(webhookId: string): Pick<WebhookConfig, 'state' | 'pausedUntil'> | null {
    return this.#entries.get(webhookId)?.config ?? null;
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
    const config =
      known?.version === row.version && known.keys?.previous == null
        ? known
        : configOf(row, this.#openKeys(row), this.#options.clock.now());
    if (this.#invalidations === invalidationsBefore) this.#entries.set(webhookId, { config, loadedAt });
    return config;
  }

  #openKeys(row: WebhookRow): SigningKeys | null {
    const { box, clock, metrics } = this.#options;
    // A deleted webhook's secret is erased, so the worker sends nothing.
    if (row.secret_sealed === null) return null;
    const open = (sealed: string) => signingKey(box.open(sealed, webhookSecretContext(row.organization_id, row.id)));
    try {
      const current = open(row.secret_sealed);
      const context = webhookHeadersContext(row.organization_id, row.id);
      const headers = row.headers_sealed === null ? [] : JSON.parse(box.open(row.headers_sealed, context));
      const previousFor = row.previous_secret_for_ms ?? 0;
      if (row.previous_secret_sealed === null || previousFor <= 0) return { current, headers, previous: null };
      const key = open(row.previous_secret_sealed);
      return { current, headers, previous: { key, expiresAt: clock.now() + previousFor } };
    } catch {
      // None of the configured encryption keys fits.
      metrics.unreadableSecrets.inc();
      return null;
    }
  }
}

export type SigningKeys = {
  current: SigningKey;
  /** The headers that the customer set for the webhook, for example for a gateway. */
  headers: WebhookHeaders;
  /** The secret before the last rotation. `expiresAt` is the end of its use, in milliseconds since 1970. */
  previous: { key: SigningKey; expiresAt: number } | null;
};

function configOf(row: WebhookRow, keys: SigningKeys | null, now: number): WebhookConfig {
  const { id, organization_id: organizationId, url, state, version } = row;
  const pausedUntil = row.paused_for_ms === null ? 0 : now + row.paused_for_ms;
  return { id, organizationId, url, hostKey: hostKeyOf(organizationId, url), state, version, pausedUntil, keys };
}

/**
 * The organization, and the host name or IP literal of the URL. Excludes the port, because one machine has many ports
 * and the limit protects machines. Excludes the resolved address, because strangers share addresses at large providers.
 */
function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}
