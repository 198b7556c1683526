import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
// oxlint-disable-next-line no-restricted-imports -- a baseline: an Express route with as little as a real one can do
import express from 'express';

// B4: an Express route that looks a key up in memory by its hash, parses a JSON body and answers with JSON.
export type ExpressCalls = { listen: (options: { key: string }) => Promise<{ port: number }> };
answerCalls({ listen } satisfies ExpressCalls);

async function listen({ key }: { key: string }): Promise<{ port: number }> {
  const known = new Map([[hashOf(key), { organization: 'org_1', scopes: ['*'] }]]);
  const app = express();
  app.use((request, response, next) => {
    const access = known.get(hashOf((request.headers.authorization ?? '').slice('Bearer '.length)));
    if (access === undefined) return void response.status(401).json({ error: 'unauthorized' });
    response.locals.access = access;
    next();
  });
  app.use(express.json());
  app.post('/events', (request, response) => {
    const { organization } = response.locals.access as { organization: string };
    response.status(202).json({ data: [{ id: 'evt_1', type: request.body.type, organization_id: organization }] });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port };
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
