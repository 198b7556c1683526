import type { ServiceProcess } from '@enterprise-api/testkit';
import got from 'got';
import { internalSecret } from './stage.ts';

/** An answer as a test looks at it. */
interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what is in it
  body: any;
}

export interface ApiClient {
  /** Calls the public listener with the key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Calls the internal listener with its secret. */
  internal(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** Calls a running API the way a customer and an internal producer do. */
function createApiClient(api: ServiceProcess, key: string): ApiClient {
  const request = async (base: string, token: string, method: string, path: string, body?: unknown, headers = {}) => {
    const response = await got(new URL(path, base), {
      method: method as 'GET',
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { json: body }),
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
      timeout: { request: 15_000 },
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.body === '' ? undefined : JSON.parse(response.body),
    };
  };
  return {
    call: (method, path, body, headers) => request(api.url, key, method, path, body, headers),
    internal: (method, path, body, headers) => request(api.internalUrl, internalSecret, method, path, body, headers),
  };
}

/** An organization made through the internal API, with one key that may do everything. */
export async function createCustomer(
  api: ServiceProcess,
): Promise<ApiClient & { organizationId: string; key: string }> {
  const { internal } = createApiClient(api, '');
  const organization = await internal('POST', '/internal/v1/organizations', { name: 'Customer', plan: 'enterprise' });
  const organizationId: string = organization.body.id;
  const created = await internal('POST', `/internal/v1/organizations/${organizationId}/keys`, {
    name: 'all',
    scopes: ['*'],
  });
  const key: string = created.body.secret;
  return { ...createApiClient(api, key), organizationId, key };
}
