import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';
import type { VerifyIdentity } from './verify-identity.ts';

/** A SCIM server that keeps its users and groups in memory. */
export interface ScimServer extends AsyncDisposable {
  readonly url: string;
}

type Resource = Record<string, unknown> & { id: string };

/** The reference server of the npm packages scimmy and scimmy-routers. SCIMMY is one object per process: start one at a time. */
export async function startScimServer(verify: VerifyIdentity): Promise<ScimServer> {
  keepInMemory(SCIMMY.Resources.User, 'userName');
  SCIMMY.Resources.User.extend(SCIMMY.Schemas.EnterpriseUser, false);
  keepInMemory(SCIMMY.Resources.Group, 'displayName');
  const app = express();
  const handler = async (request: express.Request) => String((await verify(request)).sub);
  app.use('/scim/v2', new SCIMMYRouters({ type: 'bearer', handler }));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param unique the attribute that no two resources share */
function keepInMemory(type: typeof SCIMMY.Resources.User | typeof SCIMMY.Resources.Group, unique: string): void {
  const stored = new Map<string, Resource>();
  const find = (id: string): Resource => {
    const found = stored.get(id);
    if (found === undefined) throw new SCIMMY.Types.Error(404, null as never, `Resource ${id} not found`);
    return found;
  };
  let lastNumber = 0;
  const declared = SCIMMY.Resources.declare(type as typeof SCIMMY.Resources.User);
  declared.ingress(((resource: { id?: string }, instance: object) => {
    const id = resource.id === undefined ? String(++lastNumber) : find(resource.id).id;
    const next: Resource = { ...JSON.parse(JSON.stringify(instance)), id };
    const isTaken = [...stored.values()].some((other) => other.id !== id && other[unique] === next[unique]);
    if (isTaken) throw new SCIMMY.Types.Error(409, 'uniqueness', `${unique} is taken`);
    stored.set(id, next);
    return next;
  }) as never);
  declared.egress(((resource: { id?: string; filter?: { match(all: Resource[]): Resource[] } }) => {
    if (resource.id !== undefined) return find(resource.id);
    const all = [...stored.values()];
    return resource.filter === undefined ? all : resource.filter.match(all);
  }) as never);
  declared.degress(((resource: { id: string }) => void stored.delete(find(resource.id).id)) as never);
}
