import { type ServiceProcess, startService, testKeyRing } from '@enterprise-api/testkit';
import { type Answer, send } from './send.ts';

const internalSecret = 'internal-secret-of-the-tests-0123456789';

/** Starts the API as a process of its own, for tests of what several of them share. `stopAllServices` ends it. */
export function startApiProcess(
  databaseUrl: string,
  redisUrl: string | undefined,
  settings: Record<string, string>,
): Promise<ServiceProcess> {
  return startService('api', {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SECRETS_ENCRYPTION_KEYS: testKeyRing,
    INTERNAL_API_SECRET: internalSecret,
    LOG_LEVEL: 'warn',
    ...settings,
  });
}

/** Asks the internal listener of such a process; `path` comes behind `/internal/v1`. */
export function callInternal(api: ServiceProcess, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${internalSecret}`, 'Content-Type': 'application/json' };
  const url = `${api.internalUrl}/internal/v1${path}`;
  return send({ method, url, headers, body: body && JSON.stringify(body) });
}
