import { toPublicId } from '@enterprise-api/shared/runtime';
import got from 'got';
import { internalSecret, type Stage } from './stage.ts';

/** A key for everything, for callers on this machine alone. */
export async function createKey(stage: Stage, organizationId: string): Promise<string> {
  const url = `${stage.api.internalUrl}/internal/v1/organizations/${toPublicId('org', organizationId)}/keys`;
  const { secret } = await got
    .post(url, {
      headers: { authorization: `Bearer ${internalSecret}` },
      json: { name: 'Benchmark', scopes: ['*'], ip_allowlist: ['127.0.0.0/8'] },
      retry: { limit: 0 },
    })
    .json<{ secret: string }>();
  return secret;
}
