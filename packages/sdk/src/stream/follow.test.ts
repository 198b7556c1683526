import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EnterpriseApi } from '../index.ts';
import { refusal, type ScriptedApi, startScriptedApi } from '../testing/scripted-api.ts';

const secretOf = (connection: number) =>
  `whsec_${Buffer.from(`connection ${connection}`.padEnd(32)).toString('base64')}`;

/** An event as the stream sends it. */
function message(id: string, secret: string): string {
  const event = { id, type: 'batch.failed', timestamp: '', organization_id: '', data: { batch_id: 'bat_é' } };
  const body = JSON.stringify(event);
  const headers = { 'X-Service-Signature': createHmac('sha256', secret).update(body).digest('hex') };
  return `id: ${id}\ndata: ${JSON.stringify({ headers, body })}\n\n`;
}

interface StreamScript {
  /** So many bytes are missing at the end. */
  cut?: number;
  /** The connection whose secret signs. */
  signedWith?: number;
  /** The place where the answer says that it begins. */
  begins?: string;
  /** The place that a comment names behind the events. */
  passes?: string;
}

/** Sends events and ends the connection; `cut` leaves the last message unfinished. */
const stream =
  (
    connection: number,
    ids: string[],
    { cut = 0, signedWith = connection, begins, passes }: StreamScript = {},
  ): Parameters<typeof startScriptedApi>[0] =>
  (response) => {
    const session = `: hello\n\nevent: session\ndata: ${JSON.stringify({ secret: secretOf(connection) })}\n\n`;
    const passed = passes === undefined ? '' : `:\nid: ${passes}\n\n`;
    const text = `retry: 1\n${session}${ids.map((id) => message(id, secretOf(signedWith))).join('')}${passed}`;
    const bytes = Buffer.from(text);
    response.writeHead(200, { 'content-type': 'text/event-stream', ...(begins && { 'last-event-id': begins }) });
    if (cut === 0) response.end(bytes);
    else response.write(bytes.subarray(0, bytes.length - cut), () => response.destroy());
  };

/** The ids that come until there are so many. */
async function follow(api: ScriptedApi, count: number, options: object = {}): Promise<string[]> {
  const client = new EnterpriseApi({ apiKey: 'nwk_test', baseUrl: api.url });
  const ids: string[] = [];
  for await (const { event } of client.events.stream(options)) if (ids.push(event.id) === count) break;
  return ids;
}
const placesOf = (api: ScriptedApi) => api.requests.map(({ headers }) => headers['last-event-id']);

describe('the stream of events', () => {
  it('goes on after the last event where a connection is cut, without a gap or a repetition', async () => {
    await using api = await startScriptedApi(
      stream(1, ['evt_1', 'evt_2'], { cut: 40 }),
      refusal(503, 'service_unavailable'),
      stream(2, ['evt_1', 'evt_2', 'evt_3']),
    );
    const lost: (string | undefined)[] = [];
    const secrets: string[] = [];
    const ids = await follow(api, 3, {
      events: ['batch.*', 'consultation.failed'],
      after: 'evt_0',
      onConnect: (secret: string) => secrets.push(secret),
      onDisconnect: (reason: Error | null) => lost.push(reason?.name),
    });
    // The scripted server repeats what the client has: evt_1 was handed on before the cut.
    expect(ids).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(placesOf(api)).toEqual(['evt_0', 'evt_1', 'evt_1']);
    expect(api.requests[0]?.url).toBe('/v1/events/stream?events=batch.*&events=consultation.failed');
    expect(lost).toEqual(['ConnectionError', 'ServerError']);
    expect(secrets).toEqual([secretOf(1), secretOf(2)]);
  });

  it('goes on where the API says that the stream began, so that a cut before the first event loses nothing', async () => {
    await using api = await startScriptedApi(stream(1, [], { begins: 'evt_9' }), stream(2, ['evt_10']));
    expect(await follow(api, 1)).toEqual(['evt_10']);
    expect(placesOf(api)).toEqual([undefined, 'evt_9']);
  });

  it('goes on from the place that it was told, not from where the answer begins', async () => {
    await using api = await startScriptedApi(stream(1, [], { begins: 'evt_9' }), stream(2, ['evt_8']));
    expect(await follow(api, 1, { after: 'evt_7' })).toEqual(['evt_8']);
    expect(placesOf(api)).toEqual(['evt_7', 'evt_7']);
  });

  it('goes on behind events that its patterns leave out', async () => {
    await using api = await startScriptedApi(stream(1, ['evt_1'], { passes: 'evt_5' }), stream(2, ['evt_6']));
    expect(await follow(api, 2)).toEqual(['evt_1', 'evt_6']);
    expect(placesOf(api)).toEqual([undefined, 'evt_5']);
  });

  it('begins again without a place where the API names none', async () => {
    await using api = await startScriptedApi(stream(1, []), stream(2, ['evt_1']));
    expect(await follow(api, 1)).toEqual(['evt_1']);
    expect(placesOf(api)).toEqual([undefined, undefined]);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden_scope'],
    [404, 'not_found'],
    [410, 'event_expired'],
  ])('ends with the error of an API that refuses for good: %d %s', async (status, code) => {
    await using api = await startScriptedApi(refusal(status, code));
    await expect(follow(api, 1, { after: 'evt_0' })).rejects.toMatchObject({ status, code });
    expect(api.requests).toHaveLength(1);
  });

  it('refuses an event that was not signed with the secret of its connection', async () => {
    await using api = await startScriptedApi(stream(1, ['evt_1'], { signedWith: 2 }));
    const refused = follow(api, 1, { after: 'evt_0' });
    await expect(refused).rejects.toMatchObject({ name: 'WebhookVerificationError', reason: 'signature_mismatch' });
  });

  it('ends with its signal, also while it waits for the next try', async () => {
    await using api = await startScriptedApi(refusal(429, 'rate_limited', { 'retry-after': '60' }));
    const ending = new AbortController();
    const onDisconnect = () => setImmediate(() => ending.abort());
    expect(await follow(api, 1, { after: 'evt_0', signal: ending.signal, onDisconnect })).toEqual([]);
  });
});
