import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { EnterpriseApi } from './index.ts';
import { json, startScriptedApi } from './testing/scripted-api.ts';

interface Operation {
  operationId: string;
  security: object[];
  responses: Record<string, object>;
}

const document: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
);

/** The operations that the API answers itself, with a key. Those of forwarded areas answer any 2XX: `request()` is for them. */
const ownOperations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security, responses }]) => security.length > 0 && !('2XX' in responses))
    .map(([method, { operationId }]) => ({ operationId, sent: `${method.toUpperCase()} ${path}` })),
);

/** Operations without a method of their own. */
const withoutMethod = new Map([['putWebhook', 'updateWebhook does the same']]);

const id = '{id}';
const period = { since: '2026-11-21T00:00:00Z' };

/** How each operation is called. */
const calls: Record<string, (api: EnterpriseApi) => PromiseLike<unknown>> = {
  getMe: (api) => api.me.get(),
  revokeOwnKey: (api) => api.me.revokeKey(),
  getUsage: (api) => api.usage.get(),
  createConsoleSession: (api) => api.consoleSessions.create(),
  listConsoleSessions: (api) => api.consoleSessions.list().page(),
  endConsoleSession: (api) => api.consoleSessions.end(id),
  listOwnErasures: (api) => api.erasures.list().page(),
  createWebhook: (api) => api.webhooks.create({ url: 'https://example.com/', events: ['*'] }),
  listWebhooks: (api) => api.webhooks.list().page(),
  getWebhook: (api) => api.webhooks.get(id),
  updateWebhook: (api) => api.webhooks.update(id, { enabled: false }),
  deleteWebhook: (api) => api.webhooks.delete(id),
  rotateWebhookSecret: (api) => api.webhooks.rotateSecret(id),
  pauseWebhook: (api) => api.webhooks.pause(id),
  resumeWebhook: (api) => api.webhooks.resume(id),
  testWebhook: (api) => api.webhooks.test(id),
  verifySignature: (api) => api.webhooks.verifySignature(id, { headers: {}, body: '' }),
  replayWebhook: (api) => api.webhooks.replay(id, period),
  listReplays: (api) => api.replays.list().page(),
  getReplay: (api) => api.replays.get(id),
  cancelReplay: (api) => api.replays.cancel(id),
  getWebhookHealth: (api) => api.webhooks.health(id),
  listWebhookHealth: (api) => api.webhooks.listHealth().page(),
  getWebhookStatistics: (api) => api.webhooks.statistics(),
  listEventTypes: (api) => api.webhooks.listEventTypes().page(),
  getDeliveryPolicy: (api) => api.webhooks.deliveryPolicy(),
  getSourceAddresses: (api) => api.webhooks.sourceAddresses(),
  listDeliveries: (api) => api.deliveries.list().page(),
  getDelivery: (api) => api.deliveries.get(id),
  retryDelivery: (api) => api.deliveries.retry(id),
  listEvents: (api) => api.events.list().page(),
  getEvent: (api) => api.events.get(id),
  explainEvent: (api) => api.events.explain('{event_id}'),
  explainEventType: (api) => api.webhooks.explain({ type: 'batch.failed' }),
  streamEvents: (api) => api.events.stream().next(),
};

it('has a method for every operation that the API answers itself', () => {
  const wanted = ownOperations.map(({ operationId }) => operationId).filter((name) => !withoutMethod.has(name));
  expect(wanted.length).toBeGreaterThan(0);
  expect(Object.keys(calls).toSorted()).toEqual(wanted.toSorted());
});

it.each(ownOperations.filter(({ operationId }) => operationId in calls))(
  'sends $sent for $operationId',
  async ({ operationId, sent }) => {
    // The stream would wait for events after a success.
    await using server = await startScriptedApi(json(operationId === 'streamEvents' ? 401 : 200, {}));
    const api = new EnterpriseApi({ apiKey: 'nwk_test', baseUrl: server.url });
    await Promise.resolve(calls[operationId]?.(api)).catch(() => undefined);
    const [request] = server.requests;
    expect(`${request?.method} ${decodeURIComponent(request?.url ?? '')}`).toBe(sent);
  },
);

it('has no method that is not tried here', () => {
  const api = new EnterpriseApi({ apiKey: 'nwk_test', baseUrl: 'http://127.0.0.1:1' });
  const methods = Object.values(api).flatMap((resource) => (typeof resource === 'object' ? Object.keys(resource) : []));
  expect(methods).toHaveLength(Object.keys(calls).length);
});
