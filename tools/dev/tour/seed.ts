import {
  createdApiKeySchema,
  listSchema,
  meSchema,
  type Organization,
  organizationSchema,
} from '@enterprise-api/shared/contracts';
import type { z } from 'zod';
import { type Client, call, unexpectedAnswer } from './client.ts';
import type { DatabaseState } from './demo-state.ts';

const demoOrganizationName = 'Demo organization';

export interface Access {
  organizationId: string;
  apiKey: string;
  /** False when an earlier run's key still works. */
  created: boolean;
}

/**
 * An organization with a key that may do everything: those of an earlier run when they still work, else new ones. An
 * organization of ours whose key was lost is found by its name and gets another key.
 */
export async function ensureAccess(
  internal: Client,
  publicClient: (apiKey: string) => Client,
  known: DatabaseState | undefined,
): Promise<Access> {
  if (known && (await stillWorks(publicClient(known.api_key), known))) {
    return { organizationId: known.organization_id, apiKey: known.api_key, created: false };
  }
  const organization = (await findOrganization(internal)) ?? (await createOrganization(internal));
  const { id } = organization;
  // Somebody may have tried what a plan without API access does.
  if (organization.plan !== 'enterprise') {
    await call(internal, organizationSchema, 'PATCH', `/internal/v1/organizations/${id}`, { plan: 'enterprise' });
  }
  const path = `/internal/v1/organizations/${id}/keys`;
  const key = await call(internal, createdApiKeySchema, 'POST', path, { name: 'Demo key', scopes: ['*'] });
  return { organizationId: id, apiKey: key.secret, created: true };
}

async function stillWorks(client: Client, known: DatabaseState): Promise<boolean> {
  const answer = await client.request('GET', '/v1/me');
  if (answer.status === 401 || answer.status === 403) return false;
  const me = answer.status === 200 ? meSchema.parse(answer.body) : undefined;
  if (me === undefined) throw unexpectedAnswer(['GET', '/v1/me'], answer);
  return me.organization.id === known.organization_id && me.scopes.includes('*');
}

async function findOrganization(internal: Client): Promise<Organization | undefined> {
  const all = readAll(internal, organizationSchema, '/internal/v1/organizations');
  for await (const organization of all) {
    if (organization.name === demoOrganizationName) return organization;
  }
  return undefined;
}

async function createOrganization(internal: Client): Promise<Organization> {
  const body = { name: demoOrganizationName, plan: 'enterprise' };
  return await call(internal, organizationSchema, 'POST', '/internal/v1/organizations', body);
}

/** Every item of a list, page by page. */
export async function* readAll<Item extends z.ZodType>(
  client: Client,
  item: Item,
  path: string,
): AsyncGenerator<z.output<Item>> {
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== null && { cursor }) });
    const page: { data: z.output<Item>[]; next_cursor: string | null } = await call(
      client,
      listSchema(item),
      'GET',
      `${path}?${query.toString()}`,
    );
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
