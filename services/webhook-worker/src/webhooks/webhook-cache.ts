import type { Clock } from '@enterprise-api/shared/runtime';
import type { SigningKeys } from '../attempt/build-request.ts';
import { signingKey } from '../attempt/sign.ts';
import { hostKeyOf } from '../scheduler/host-limit.ts';
import type { WebhookRow } from './queries.ts';

/** A webhook as attempts use it: its secrets opened and made into keys once, not per attempt. */
export interface WebhookConfig {
  id: string;
  organizationId: string;
  url: string;
  /** Organization and host, as the lanes' limit per host counts. */
  hostKey: string;
  state: WebhookRow['state'];
  version: number;
  /** Null when the secret cannot be opened: then nothing is sent. */
  keys: SigningKeys | null;
}

export interface WebhookCache {
  /** The webhook at this version or a newer one; null when there is none. At once when it is at hand. */
  get(webhookId: string, atLeastVersion: number): WebhookConfig | Promise<WebhookConfig | null>;
  /** The state that is at hand, without asking; null when none is. */
  knownState(webhookId: string): WebhookConfig['state'] | null;
  forget(webhookId: string): void;
  forgetAll(): void;
}

export interface WebhookCacheOptions {
  find: (ids: string[]) => Promise<WebhookRow[]>;
  /** Opens a sealed secret of a webhook. @throws when no key of the ring fits */
  open: (sealed: string, webhook: Pick<WebhookRow, 'id' | 'organization_id'>) => string;
  clock: Clock;
  onUnreadableSecret: (webhookId: string) => void;
}

/** A change that nobody told us of is seen after this time. */
const keptForMs = 5_000;
const maxEntries = 10_000;

export function createWebhookCache({ find, open, clock, onUnreadableSecret }: WebhookCacheOptions): WebhookCache {
  const entries = new Map<string, { config: WebhookConfig; loadedAt: number }>();
  const load = createGatheringLoader(find);
  // A row read before a change and stored after the word of it came would be stale without anybody knowing.
  let forgotten = 0;

  const reload = async (webhookId: string): Promise<WebhookConfig | null> => {
    const askedAt = clock.monotonic();
    const forgottenBefore = forgotten;
    const row = await load(webhookId);
    if (!row) return null;
    const known = entries.get(webhookId)?.config;
    // Opening secrets costs more than looking the row up: an unchanged webhook keeps its keys.
    const config = known?.version === row.version && known.keys?.previous == null ? known : toConfig(row);
    if (forgotten === forgottenBefore) keep(config, askedAt);
    return config;
  };
  const keep = (config: WebhookConfig, loadedAt: number): void => {
    // Written anew, it goes to the end: the first is the one that nobody has asked for longest.
    entries.delete(config.id);
    entries.set(config.id, { config, loadedAt });
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  };
  const toConfig = (row: WebhookRow): WebhookConfig => ({
    id: row.id,
    organizationId: row.organization_id,
    url: row.url,
    hostKey: hostKeyOf(row.organization_id, row.url),
    state: row.state,
    version: row.version,
    keys: openKeys(row),
  });
  const openKeys = (row: WebhookRow): SigningKeys | null => {
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
  };
  return {
    get: (webhookId, atLeastVersion) => {
      const entry = entries.get(webhookId);
      const isGood =
        entry !== undefined && entry.config.version >= atLeastVersion && clock.monotonic() - entry.loadedAt < keptForMs;
      return isGood ? entry.config : reload(webhookId);
    },
    knownState: (webhookId) => entries.get(webhookId)?.config.state ?? null,
    forget: (webhookId) => {
      forgotten += 1;
      // One in use is read again at once: an attempt that is still connecting asks for its state before the first byte.
      if (entries.delete(webhookId)) reload(webhookId).catch(() => undefined);
    },
    forgetAll: () => {
      forgotten += 1;
      entries.clear();
    },
  };
}

/** Joins the look-ups of one turn of the event loop into one statement. */
function createGatheringLoader(find: WebhookCacheOptions['find']): (id: string) => Promise<WebhookRow | undefined> {
  let gathering: { ids: Set<string>; rows: Promise<Map<string, WebhookRow>> } | undefined;
  return async (id) => {
    if (!gathering) {
      const ids = new Set<string>();
      const rows = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
        gathering = undefined;
        return new Map((await find([...ids])).map((row) => [row.id, row]));
      });
      gathering = { ids, rows };
    }
    gathering.ids.add(id);
    return (await gathering.rows).get(id);
  };
}
