import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const { API, API_KEY } = process.env;

async function call(method, path, body) {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const options = { method, headers, body: body && JSON.stringify(body) };
  for (let repetitions = 4; ; repetitions--) {
    const answer = await fetch(API + path, options);
    if (answer.status === 204) return undefined;
    if (answer.ok) return await answer.json();
    const { error } = await answer.json();
    const isTemporary = answer.status === 429 || answer.status === 503;
    if (!isTemporary || repetitions === 0) throw new Error(`${error.code}: ${error.message} (${error.request_id})`);
    await wait(1_000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

const me = await call('GET', '/v1/me');
console.log(me.organization.name);

const webhook = await call('POST', '/v1/webhooks', { url: 'https://example.com/webhooks', events: ['*'] });
console.log(webhook.id);

await call('POST', '/v1/webhooks', { url: 'http://example.com/', events: ['*'] }).catch((error) =>
  console.log(error.message),
);
