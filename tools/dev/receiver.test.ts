import { createHmac } from 'node:crypto';
import { createCertificateAuthority, freePorts } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import got from 'got';
import { type Arrival, type DemoReceiver, startDemoReceiver } from './receiver.ts';

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const event = {
  id: 'evt_1',
  type: 'batch.failed',
  timestamp: '2026-11-21T07:00:00.000Z',
  organization_id: 'org_1',
  data: { batch_id: 'bat_é' },
};
const body = JSON.stringify(event);
const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
const signature = sign(body);

let receiver: DemoReceiver;
let certificateAuthority: string;
const arrivals: Arrival[] = [];

beforeAll(async () => {
  const { certificate, issue } = await createCertificateAuthority();
  certificateAuthority = certificate;
  const [port = 0] = await freePorts(1);
  const onArrival = (arrival: Arrival) => void arrivals.push(arrival);
  receiver = await startDemoReceiver({ port, ...(await issue({ hosts: ['127.0.0.1'] })), onArrival });
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
});

async function deliver(headers: Record<string, string>, text = body): Promise<number> {
  const { statusCode } = await got.post(receiver.url, {
    body: text,
    headers: { 'x-service-event-id': 'evt_1', 'x-service-attempt': '1', ...headers },
    https: { certificateAuthority },
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return statusCode;
}

describe('the demo receiver', () => {
  it('asks for a delivery again that comes before it knows the secret', async () => {
    expect(await deliver({ 'x-service-signature': signature })).toBe(503);
    expect(arrivals).toEqual([]);
  });

  it('accepts a delivery that is signed with the secret', async () => {
    receiver.setSecret(secret);
    expect(await deliver({ 'x-service-signature': signature })).toBe(204);
    expect(arrivals.at(-1)).toMatchObject({ eventId: 'evt_1', verified: true, workId: 'bat_é', attempt: 1 });
  });

  it('accepts a test of any type', async () => {
    receiver.setSecret(secret);
    const test = JSON.stringify({ ...event, test: true });
    expect(await deliver({ 'x-service-signature': sign(test) }, test)).toBe(204);
  });

  it('refuses a delivery that is not signed with the secret, and shows it', async () => {
    receiver.setSecret(secret);
    expect(await deliver({ 'x-service-signature': signature }, `${body} `)).toBe(401);
    expect(await deliver({})).toBe(401);
    expect(arrivals.slice(-2)).toMatchObject([{ verified: false }, { verified: false }]);
  });
});
