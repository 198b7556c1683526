import { createHmac } from 'node:crypto';
import { testWebhookSecret } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { LoadResult } from '../generator/load.ts';
import type { Received, Sample } from '../receiver/calls.ts';
import { audit } from './audit.ts';

const ids = ['a', 'b'].map((letter) => letter.repeat(26));

function loadOf(statuses: number[]): LoadResult {
  const times = new Float64Array(statuses.length);
  const eventIds = new Uint8Array(Buffer.from(ids.join('')));
  const frame = { dueAt: times, sentAt: times, answeredAt: times, startedAt: 0, endedAt: 1 };
  return { ...frame, statuses: Uint16Array.from(statuses), eventIds };
}

function receivedOf(requests: { id: string; webhook: number; status?: number }[], samples = [sample()]): Received {
  return {
    requests: requests.length,
    connections: 1,
    eventIds: new Uint8Array(Buffer.from(requests.map(({ id }) => id).join(''))),
    webhooks: Uint16Array.from(requests.map(({ webhook }) => webhook)),
    attempts: new Uint8Array(requests.length).fill(1),
    statuses: Uint16Array.from(requests.map(({ status = 200 }) => status)),
    at: new Float64Array(requests.length),
    samples,
  };
}

const bodyOf = (id: string) =>
  JSON.stringify({ id, type: 'batch.failed', timestamp: '', organization_id: '', data: {} });

function sample(body = bodyOf('evt_1'), sent = body): Sample {
  const now = new Date();
  const headers = [
    `X-Service-Signature: ${createHmac('sha256', testWebhookSecret).update(body).digest('hex')}`,
    'webhook-id: evt_1',
    `webhook-timestamp: ${Math.floor(now.getTime() / 1_000)}`,
    `webhook-signature: ${new Webhook(testWebhookSecret).sign('evt_1', now, body)}`,
  ];
  return { head: `POST /w/0 HTTP/1.1\r\n${headers.join('\r\n')}`, body: new Uint8Array(Buffer.from(sent)) };
}

const all = [0, 1].flatMap((webhook) => ids.map((id) => ({ id, webhook })));
const two = { webhooksPerEvent: 2 };

describe('audit', () => {
  it('finds no problem when every webhook received every event, also twice', async () => {
    const twice = all.flatMap((request) => [request, request]);
    expect(await audit(loadOf([202, 202]), receivedOf(twice), two)).toEqual([]);
  });

  it('finds a pair that is missing, or was refused', async () => {
    const missing = ['3 pairs of event and webhook were received, not 4'];
    expect(await audit(loadOf([202, 202]), receivedOf(all.slice(1)), two)).toEqual(missing);
    const refused = all.map((request, index) => ({ ...request, status: index === 0 ? 503 : 200 }));
    expect(await audit(loadOf([202, 202]), receivedOf(refused), two)).toEqual(missing);
  });

  it('expects nothing of webhooks that fail on purpose', async () => {
    const half = all.filter(({ webhook }) => webhook === 1);
    expect(await audit(loadOf([202, 202]), receivedOf(half), { ...two, excepted: new Set([0]) })).toEqual([]);
  });

  it('finds an event that was not emitted', async () => {
    const strange = [{ id: 'c'.repeat(26), webhook: 0 }, ...all.slice(1)];
    expect(await audit(loadOf([202, 202]), receivedOf(strange), two)).toEqual([
      '1 pairs are of events that were not emitted',
    ]);
  });

  it('finds an event that was not accepted', async () => {
    expect(await audit(loadOf([202, 503]), receivedOf(all), two)).toContain('1 of 2 requests were not answered 202');
  });

  it('finds a signature of another body, and that none was verified', async () => {
    const wrong = receivedOf(all, [sample(bodyOf('evt_1'), bodyOf('evt_2'))]);
    expect(await audit(loadOf([202, 202]), wrong, two)).toEqual(['1 of 1 signatures do not verify']);
    expect(await audit(loadOf([202, 202]), receivedOf(all, []), two)).toEqual(['no signature was verified']);
  });
});
