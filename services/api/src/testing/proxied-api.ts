import { createTestDatabase, type FaultProxy, startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { startTestApi, type TestApi } from './test-api.ts';

/** An API that reaches PostgreSQL through a proxy, for tests of outages. */
export interface ProxiedApi {
  readonly api: TestApi;
  readonly proxy: FaultProxy;
  /** Reaches the same database without the proxy. */
  readonly databaseUrl: string;
  /** Ends the fault, and waits until the API is ready again. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export async function startProxiedApi(): Promise<ProxiedApi> {
  const database = await createTestDatabase();
  const { hostname, port } = new URL(database.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const api = await startTestApi({ database: { ...database, url: throughProxy(database.url, proxy) } });
  return {
    api,
    proxy,
    databaseUrl: database.url,
    recover: async () => {
      proxy.restore();
      await until('the API is ready', async () => (await api.call('get', '/readyz')).status === 200);
    },
    stop: async () => {
      proxy.restore();
      await api.stop();
      await proxy.close();
      await database.drop();
    },
  };
}
