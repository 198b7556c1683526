import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { insertDelivery } from './rows.ts';

export const listNames = ['webhooks', 'deliveries', 'organizations', 'keys'] as const;

/** A list, and how its rows come and go behind the API's back. Times are the rows' own: many share a microsecond. */
export interface List {
  path: string;
  internal: boolean;
  insert: (createdAt: Date) => Promise<string>;
  remove: (id: string) => Promise<unknown>;
}

export function createLists(
  db: Database,
  { organizationId, webhookId }: { organizationId: string; webhookId: string },
): Record<(typeof listNames)[number], List> {
  const organizationUuid = fromPublicId('org', organizationId) as string;
  return {
    webhooks: {
      path: '/v1/webhooks',
      internal: false,
      insert: async (created_at) => {
        const row = { organization_id: organizationUuid, url: 'https://example.com', event_patterns: ['*'] };
        const more = { description: null, state: 'enabled', disabled_reason: null, secret_sealed: 'x' } as const;
        const id = newUuid();
        await db
          .insertInto('webhooks')
          .values({ id, ...row, ...more, created_at })
          .execute();
        return id;
      },
      remove: (id) => db.updateTable('webhooks').set({ state: 'deleted' }).where('id', '=', id).execute(),
    },
    deliveries: {
      path: '/v1/webhooks/deliveries',
      internal: false,
      insert: async (created_at) => {
        const { id } = await insertDelivery(db, { organizationId, webhookId }, { created_at });
        return fromPublicId('dlv', id) as string;
      },
      remove: (id) => db.deleteFrom('deliveries').where('id', '=', id).execute(),
    },
    organizations: {
      path: '/internal/v1/organizations',
      internal: true,
      insert: async (created_at) => {
        const id = newUuid();
        await db.insertInto('organizations').values({ id, name: 'x', plan: 'pro', created_at }).execute();
        return id;
      },
      remove: (id) => db.deleteFrom('organizations').where('id', '=', id).execute(),
    },
    keys: {
      path: `/internal/v1/organizations/${organizationId}/keys`,
      internal: true,
      insert: async (created_at) => {
        const id = newUuid();
        const row = { organization_id: organizationUuid, name: 'x', public_id: id.slice(-8), hash: Buffer.from(id) };
        await db
          .insertInto('api_keys')
          .values({ id, ...row, scopes: ['*'], ip_allowlist: null, expires_at: null, revoked_at: null, created_at })
          .execute();
        return id;
      },
      remove: (id) => db.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', id).execute(),
    },
  };
}
