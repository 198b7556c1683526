import { type OwnPostgres, openStage, type RedisServer, type Stage, type WebhookValues } from '@enterprise-api/testkit';
import { createRequestLog, type RequestLog } from './request-log.ts';

/** What a campaign runs on. Stores that it may break are given as such; a shared database is used and left alone. */
export interface Stores {
  /** Of the queue; undefined: the queue lives in PostgreSQL. */
  redisUrl: string | undefined;
  redis?: RedisServer;
  postgres?: OwnPostgres;
  /** Of the ledger, where it is no server of `postgres`. */
  databaseUrl?: string;
}

/** A stage with a receiver that records every request. */
export interface FaultStage extends Omit<Stage, 'subscribe'> {
  readonly requests: RequestLog;
  /** A URL of the receiver. */
  url(path?: string): string;
  /** An organization with webhooks at the receiver, one for each path. */
  subscribe(paths: readonly string[], values?: Partial<WebhookValues>): Promise<{ organizationId: string }>;
}

/** Leases that run out in 3 s, so that a short run does not wait 45 s for the deliveries of a dead worker. */
export const quickLeases = { WEBHOOK_TIMEOUT_MS: '1000', WORKER_LEASE_MARGIN: '2s', WORKER_START_WITHIN: '1s' };

/** @param settings of every process, beyond those that a stage needs; all others have their defaults */
export async function openFaultStage(stores: Stores, settings: Record<string, string> = {}): Promise<FaultStage> {
  const stage = await openStage({
    redisUrl: stores.redisUrl,
    databaseUrl: stores.databaseUrl ?? stores.postgres?.url,
    settings,
  });
  const receiver = await stage.startReceiver();
  const url = (path = '/hook') => receiver.url(path);
  return {
    ...stage,
    requests: createRequestLog(receiver),
    url,
    subscribe: async (paths, values = {}) => {
      let { organizationId } = values;
      for (const path of paths) {
        ({ organizationId } = await stage.subscribe({
          url: url(path),
          ...values,
          ...(organizationId && { organizationId }),
        }));
      }
      if (organizationId === undefined) throw new Error('An organization without a webhook is not subscribed.');
      return { organizationId };
    },
  };
}
