import {
  createdApiKeySchema,
  listSchema,
  meSchema,
  type Organization,
  organizationSchema,
} from '@enterprise-api/shared/contracts';
import type { z } from 'zod';
import { type Connect, type Listener, request, unexpectedAnswer } from './api-request.ts';
import type { DatabaseState } from './demo-state.ts';

const demoOrganizationName = 'Demo organization';

export interface Access {
  organizationId: string;
  apiKey: string;
  /** False when the key of an earlier run still works. */
  created: boolean;
}

/**
 * The demo organization with a key that may do everything. Both are kept from an earlier run when its key still works.
 * Otherwise the organization is found by its name or created, and gets a new key.
 */
export async function ensureAccess(connect: Connect, known: DatabaseState | undefined): Promise<Access> {
  if (known && (await stillWorks(connect(known.api_key).call, known))) {
    return { organizationId: known.organization_id, apiKey: known.api_key, created: false };
  }
  const { internal } = connect();
  const organization = (await findOrganization(internal)) ?? (await createOrganization(internal));
  const path = `/internal/v1/organizations/${organization.id}`;
  // A user of the demo may have changed the plan to one without API access.
  if (organization.plan !== 'enterprise') {
    await request(internal, organizationSchema, 'PATCH', path, { plan: 'enterprise' });
  }
  const key = await request(internal, createdApiKeySchema, 'POST', `${path}/keys`, { name: 'Demo key', scopes: ['*'] });
  return { organizationId: organization.id, apiKey: key.secret, created: true };
}

async function stillWorks(call: Listener, known: DatabaseState): Promise<boolean> {
  const answer = await call('GET', '/v1/me');
  if (answer.status === 401 || answer.status === 403) return false;
  if (answer.status !== 200) throw unexpectedAnswer('GET', '/v1/me', answer);
  const me = meSchema.parse(answer.body);
  return me.organization.id === known.organization_id && me.scopes.includes('*');
}

async function findOrganization(internal: Listener): Promise<Organization | undefined> {
  for await (const organization of readAll(internal, organizationSchema, '/internal/v1/organizations')) {
    if (organization.name === demoOrganizationName) return organization;
  }
  return undefined;
}

async function createOrganization(internal: Listener): Promise<Organization> {
  const body = { name: demoOrganizationName, plan: 'enterprise' };
  return await request(internal, organizationSchema, 'POST', '/internal/v1/organizations', body);
}

/** Every item of a list, page by page. */
export async function* readAll<Item extends z.ZodType>(
  listener: Listener,
  item: Item,
  path: string,
): AsyncGenerator<z.output<Item>> {
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== null && { cursor }) });
    const page: { data: z.output<Item>[]; next_cursor: string | null } = await request(
      listener,
      listSchema(item),
      'GET',
      `${path}?${query.toString()}`,
    );
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
