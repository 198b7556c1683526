import { randomUUID } from 'node:crypto';
import { Agent, RetryAgent, request } from 'undici';

const { API, API_KEY } = process.env;
const retryOptions = { maxRetries: 4, methods: ['GET', 'POST'], statusCodes: [429, 503], throwOnError: false };
const dispatcher = new RetryAgent(new Agent(), retryOptions);

async function call(method, path, body) {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const answer = await request(API + path, { dispatcher, method, headers, body: body && JSON.stringify(body) });
  const parsed = await answer.body.json();
  if (answer.statusCode < 400) return parsed;
  throw new Error(`${parsed.error.code}: ${parsed.error.message} (${parsed.error.request_id})`);
}

const me = await call('GET', '/v1/me');
console.log(me.organization.name);

const webhook = await call('POST', '/v1/webhooks', { url: 'https://example.com/webhooks', events: ['*'] });
console.log(webhook.id);

await call('POST', '/v1/webhooks', { url: 'http://example.com/', events: ['*'] }).catch((error) =>
  console.log(error.message),
);
await dispatcher.close();
