import { randomUUID } from 'node:crypto';
import axios from 'axios';
import axiosRetry from 'axios-retry';

const { API, API_KEY } = process.env;
const api = axios.create({ baseURL: API, headers: { authorization: `Bearer ${API_KEY}` } });
axiosRetry(api, {
  retries: 4,
  retryCondition: (error) => [429, 503].includes(error.response?.status),
  // Waits as Retry-After asks, where that is longer.
  retryDelay: axiosRetry.exponentialDelay,
});

const me = await api.get('/v1/me');
console.log(me.data.organization.name);

const body = { url: 'https://example.com/webhooks', events: ['*'] };
const webhook = await api.post('/v1/webhooks', body, { headers: { 'idempotency-key': randomUUID() } });
console.log(webhook.data.id);

try {
  await api.post('/v1/webhooks', { url: 'http://example.com/', events: ['*'] });
} catch (error) {
  const { code, message, request_id } = error.response.data.error;
  console.log(code, message, request_id);
}
