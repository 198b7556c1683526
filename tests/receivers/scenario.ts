import { createHmac } from 'node:crypto';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { ReceiverKind } from './kinds.ts';
import { createPoster } from './post.ts';
import { openReceiverStage, type ReceiverStage, untilDelivery, withinMs } from './stage.ts';

/** The worker keeps an idle connection for 30 s. */
const longerThanWorkerKeepsMs = 31_000;

/** What every example receiver does with the deliveries of the real worker. */
export function describeReceiver(name: string, kind: ReceiverKind): void {
  // Several waits, each of which a slow machine may use up.
  jest.setTimeout(300_000);
  let stage: ReceiverStage;
  let secret: string;
  let poster: ReturnType<typeof createPoster>;

  beforeAll(async () => {
    stage = await openReceiverStage(kind);
    secret = stage.secret;
    poster = createPoster(stage.ca);
    await stage.start([secret]);
  });
  afterAll(async () => {
    poster?.close();
    await stage?.[Symbol.asyncDispose]();
  });

  const untilHandled = (id: string) => until('the event is handled', () => stage.handled(id) > 0, { withinMs });
  const untilSucceeded = (id: string) => stage.untilDelivery(id, ({ status }) => status === 'succeeded');
  const rotate = async (body: object) => {
    const answer = await stage.customer.call('POST', `/v1/webhooks/${stage.webhookId}/rotate-secret`, body);
    expect(answer.status).toBe(200);
    return answer.body.secret as string;
  };
  const expectAccepted = async () => {
    const id = await stage.emit();
    expect(await untilSucceeded(id)).toMatchObject({ last_status_code: 204 });
    await untilHandled(id);
    return id;
  };

  describe(`the receiver in ${name}`, () => {
    it('verifies a delivery, answers 204 and handles the event', async () => {
      await expectAccepted();
    });

    it('accepts the largest event', async () => {
      const id = await stage.emit({ note: 'x'.repeat(255 * 1_024) });
      expect(await untilSucceeded(id)).toMatchObject({ last_status_code: 204 });
      await untilHandled(id);
    });

    it('handles an event once that is delivered again', async () => {
      const id = await expectAccepted();
      const delivery = await untilSucceeded(id);
      await stage.customer.call('POST', `/v1/webhooks/deliveries/${delivery.id}/retry`);
      await stage.untilDelivery(id, (each) => each.status === 'succeeded' && each.attempt_count === 2);
      // Later events are handled after it, were it handled again.
      await expectAccepted();
      expect(stage.handled(id)).toBe(1);
    });

    it('refuses a delivery that was signed with the secret of another webhook', async () => {
      const other = await stage.customer.createWebhook(stage.url());
      const { body: sent } = await stage.customer.call('POST', `/v1/webhooks/${other.id}/test`);
      const ended = (delivery: { status: string }) => delivery.status !== 'pending';
      const delivery = await untilDelivery(stage.customer, `&event_id=${sent.event_id}`, ended);
      expect(delivery).toMatchObject({ status: 'failed', last_status_code: 401 });
      expect(stage.handled(sent.event_id)).toBe(0);
      await stage.customer.call('DELETE', `/v1/webhooks/${other.id}`);
    });

    it('answers 5xx while it cannot record, and handles the event when it is sent again', async () => {
      const unblock = kind.block(stage.folder);
      const id = await stage.emit();
      await stage.untilDelivery(id, (delivery) => delivery.last_status_code === 500).finally(unblock);
      expect(stage.handled(id)).toBe(0);
      await untilSucceeded(id);
      await untilHandled(id);
    });

    it('handles an event that it accepted and that a killed process had only recorded', async () => {
      const accepted = await stage.emit();
      await untilSucceeded(accepted);
      await stage.kill();
      const id = 'evt_recorded';
      kind.record(stage.folder, id, bodyOf(id));
      await stage.start([secret]);
      await untilHandled(id);
      expect(stage.handled(accepted)).toBeGreaterThan(0);
    });

    const text = bodyOf('evt_direct');
    const standard = (at: Date, key = secret, body = text) => ({
      'webhook-id': 'evt_direct',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign('evt_direct', at, body),
    });
    const hex = (key = secret, body = text) => createHmac('sha256', key).update(body).digest('hex');
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const stranger = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const postWith = async (headers: Record<string, string>) => (await poster.post(stage.url(), text, headers)).status;

    it.each<[string, () => Record<string, string>]>([
      ['no signature', () => ({})],
      ['a signature of another body', () => standard(minutesAgo(0), secret, `${text} `)],
      ['an old timestamp', () => standard(minutesAgo(6))],
      [
        'an old timestamp, and X-Service-Signature',
        () => ({ ...standard(minutesAgo(6)), 'x-service-signature': hex() }),
      ],
      [
        'a signature of another secret, and X-Service-Signature',
        () => ({ ...standard(minutesAgo(0), stranger), 'x-service-signature': hex() }),
      ],
      ['a timestamp that lies ahead', () => standard(minutesAgo(-6))],
      ['a timestamp that is no number', () => ({ ...standard(minutesAgo(0)), 'webhook-timestamp': 'now' })],
      ['the X-Service-Signature of another secret', () => ({ 'x-service-signature': hex(stranger) })],
      ['the X-Service-Signature of another body', () => ({ 'x-service-signature': hex(secret, `${text} `) })],
      ['half of the X-Service-Signature', () => ({ 'x-service-signature': hex().slice(0, 32) })],
    ])('refuses a request with %s', async (_what, headers) => {
      expect(await postWith(headers())).toBe(401);
      expect(stage.handled('evt_direct')).toBe(0);
    });

    it('accepts each of the two signatures alone, a few minutes of delay, and a signature among several', async () => {
      expect(await postWith({ 'x-service-signature': hex() })).toBe(204);
      expect(await postWith(standard(minutesAgo(4)))).toBe(204);
      const [first, second] = [standard(minutesAgo(0), stranger), standard(minutesAgo(0))];
      const several = `${first['webhook-signature']} ${second['webhook-signature']}`;
      expect(await postWith({ ...second, 'webhook-signature': several })).toBe(204);
      await untilHandled('evt_direct');
      await expectAccepted();
      expect(stage.handled('evt_direct')).toBe(1);
    });

    it('needs the exact path, without a redirect', async () => {
      const signed = { 'x-service-signature': hex() };
      expect(await poster.post(`${stage.url()}/`, text, signed)).toMatchObject({ status: 404 });
    });

    it('accepts deliveries during the overlap of a rotation with either secret, or both', async () => {
      const next = await rotate({});
      await expectAccepted();
      await stage.start([secret, next]);
      await expectAccepted();
      await stage.start([next]);
      await expectAccepted();
      secret = next;
    });

    it('refuses deliveries when its secret is out of use, and gets them once it has the new one', async () => {
      const next = await rotate({ overlap_seconds: 0, force: true });
      const id = await stage.emit();
      await stage.untilDelivery(id, (delivery) => delivery.last_status_code === 401);
      await stage.start([next]);
      secret = next;
      await untilSucceeded(id);
      await untilHandled(id);
      expect(stage.handled(id)).toBe(1);
    });

    it('keeps an idle connection for longer than the worker does', async () => {
      expect(await poster.post(stage.url(), text, {})).toMatchObject({ status: 401 });
      const idleSince = performance.now();
      const isIdleLongEnough = () => performance.now() - idleSince > longerThanWorkerKeepsMs;
      await until('the connection was idle', isIdleLongEnough, { everyMs: 500, withinMs });
      expect(await poster.post(stage.url(), text, {})).toEqual({ status: 401, overKeptConnection: true });
    });
  });
}

function bodyOf(id: string): string {
  const organization_id = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';
  const timestamp = '2026-11-21T07:00:00.000Z';
  return JSON.stringify({ id, type: 'batch.completed', timestamp, organization_id, data: { batch_id: 'é' } });
}
