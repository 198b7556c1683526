import type {
  CreatedApiKey,
  Delivery,
  EmitEvent,
  EmitEventInput,
  Organization,
  Plan,
  WebhookWithSecret,
} from '@enterprise-api/shared/contracts';
import type { Exchange } from '../openapi/answer-check.ts';
import type { DocumentName } from '../openapi/document.ts';
import { type HttpAnswer, sendRequest } from './http-request.ts';

/** INTERNAL_API_SECRET of every API that a test or a benchmark starts. */
export const testInternalSecret = 'an-internal-secret-for-tests-only-0123456789';

/** Where an API listens. */
export interface ApiListeners {
  /** The public listener. */
  url: string;
  internalUrl: string;
}

type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<HttpAnswer>;

/** Throws when an answer is not as the OpenAPI document of its listener says. */
type AnswerCheck = (document: DocumentName, exchange: Exchange) => void;

let checkAnswer: AnswerCheck = () => undefined;

/** From here on the clients of this process check every answer. The tours, which have no documents, do not. */
export function checkEveryAnswer(check: AnswerCheck): void {
  checkAnswer = check;
}

/** Calls a running API the way a customer and an internal producer do. */
export interface ApiClient {
  /** Calls the public listener, with the key when there is one. */
  call: Call;
  /** Calls the internal listener with its secret. */
  internal: Call;
  createOrganization(plan?: Plan): Promise<Organization>;
  /** A key that may do everything unless the fields say otherwise. */
  createKey(organizationId: string, fields?: object): Promise<CreatedApiKey>;
  /** A webhook for all events unless the fields say otherwise. */
  createWebhook(url: string, fields?: object): Promise<WebhookWithSecret>;
  /** Emits events in one request. The answer may be a refusal. */
  emit(events: readonly (EmitEvent | EmitEventInput)[]): Promise<HttpAnswer>;
  /** The newest 100 deliveries; `query` narrows them, for example `&status=failed`. */
  deliveries(query?: string): Promise<Delivery[]>;
}

export interface ApiClientOptions {
  key?: string;
  internalSecret?: string;
  /** Ends every request under way. */
  signal?: AbortSignal;
}

export function createApiClient(api: ApiListeners, options: ApiClientOptions = {}): ApiClient {
  const { key, internalSecret = testInternalSecret, signal } = options;
  const callWith =
    (name: DocumentName, listenerUrl: string, token: string | undefined): Call =>
    async (method, path, body, headers) => {
      const url = new URL(path, listenerUrl);
      const answer = await sendRequest({
        method,
        url,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
      checkAnswer(name, { ...answer, method, target: url.pathname, hasBody: body !== undefined });
      return answer;
    };
  const internal = callWith('internal-openapi', api.internalUrl, internalSecret);
  const call = callWith('openapi', api.url, key);
  return {
    call,
    internal,
    createOrganization: (plan = 'enterprise') =>
      created(internal, '/internal/v1/organizations', { name: 'Acme', plan }),
    createKey: (organizationId, fields) =>
      created(internal, `/internal/v1/organizations/${organizationId}/keys`, {
        name: 'test key',
        scopes: ['*'],
        ...fields,
      }),
    createWebhook: (url, fields) => created(call, '/v1/webhooks', { url, events: ['*'], ...fields }),
    emit: (events) => internal('POST', '/internal/v1/events', { events }),
    deliveries: async (query = '') => (await call('GET', `/v1/webhooks/deliveries?limit=100${query}`)).body.data,
  };
}

/** A customer of a running API: an organization of its own, and a key that may do everything. */
export interface ApiCustomer extends ApiClient {
  organizationId: string;
  key: string;
}

export async function createApiCustomer(api: ApiListeners, options: ApiClientOptions = {}): Promise<ApiCustomer> {
  const { createOrganization, createKey } = createApiClient(api, options);
  const { id: organizationId } = await createOrganization();
  const { secret: key } = await createKey(organizationId);
  return { ...createApiClient(api, { ...options, key }), organizationId, key };
}

/** @throws with the answer when it is not 201 */
async function created<Made>(call: Call, path: string, body: object): Promise<Made> {
  const answer = await call('POST', path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status}: ${answer.text}`);
  return answer.body;
}
