import { randomUUID } from 'node:crypto';
import got, { HTTPError } from 'got';

const { API, API_KEY } = process.env;
const api = got.extend({
  prefixUrl: API,
  headers: { authorization: `Bearer ${API_KEY}` },
  responseType: 'json',
  retry: { limit: 4, methods: ['GET', 'POST'], statusCodes: [429, 503] },
});

const me = await api.get('v1/me');
console.log(me.body.organization.name);

const json = { url: 'https://example.com/webhooks', events: ['*'] };
const webhook = await api.post('v1/webhooks', { json, headers: { 'idempotency-key': randomUUID() } });
console.log(webhook.body.id);

try {
  await api.post('v1/webhooks', { json: { url: 'http://example.com/', events: ['*'] } });
} catch (error) {
  if (!(error instanceof HTTPError)) throw error;
  const { code, message, request_id } = error.response.body.error;
  console.log(code, message, request_id);
}
