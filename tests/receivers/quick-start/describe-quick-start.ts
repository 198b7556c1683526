import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type ApiCustomer,
  createApiCustomer,
  openStage,
  projectFolder,
  type Stage,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Framework } from '../frameworks/framework.ts';
import { type Program, prepareWithinMs, startProgram } from '../program.ts';
import { untilDelivery, withinMs } from '../stage.ts';

const pageOf = (name: string) => readFileSync(join(projectFolder, 'docs/customers', `${name}.md`), 'utf8');

/** The first code block below a heading. */
function codeBelow(page: string, heading: string): string {
  const [, below = ''] = page.split(`\n${heading}\n`);
  const [, code] = /^```\w+\n([\s\S]*?)^```$/m.exec(below) ?? [];
  if (code === undefined) throw new Error(`There is no code below ${heading}.`);
  return code;
}

/** Follows docs/customers/quick-start.md with the program of one language. */
export function describeQuickStart(language: string, how: Pick<Framework, 'file' | 'prepare'>): void {
  describe(`the quick start in ${language}`, () => {
    let stage: Stage;
    let customer: ApiCustomer;
    let receiver: Program;
    let webhook: { id: string; secret: string };

    beforeAll(async () => {
      stage = await openStage({ redisUrl: undefined });
      const [api] = await Promise.all([stage.startApi(), stage.startWorker()]);
      customer = await createApiCustomer(api);
      webhook = await customer.createWebhook('https://localhost:8443/webhooks');
      const source = codeBelow(pageOf('quick-start'), `### ${language}`);
      receiver = await startProgram({ ...how, name: language, source }, stage, webhook.secret);
      await customer.call('PATCH', `/v1/webhooks/${webhook.id}`, { url: receiver.url('/webhooks') });
    }, prepareWithinMs);
    afterAll(async () => {
      await receiver?.[Symbol.asyncDispose]();
      await stage?.[Symbol.asyncDispose]();
    });

    const isEnded = ({ status }: { status: string }) => status !== 'pending';
    const printed = (id: string) => receiver.lines.filter((line) => line.includes(id));

    it('stores a delivery, answers it and works on it once, also when it comes again', async () => {
      const organization_id = customer.organizationId as `org_${string}`;
      const data = { batch_id: 'bat_1', note: 'grüße 🎉 \u2028' };
      const { body } = await customer.emit([{ organization_id, type: 'batch.completed', data }]);
      const { id } = body.data[0];
      const first = await untilDelivery(customer, `&event_id=${id}`, isEnded);
      expect(first).toMatchObject({ status: 'succeeded', last_status_code: 204, attempt_count: 1 });
      expect(readdirSync(join(receiver.folder, 'events'))).toContain(`${id}.json`);
      await customer.call('POST', `/v1/webhooks/deliveries/${first.id}/retry`);
      const again = await untilDelivery(
        customer,
        `&event_id=${id}`,
        (each) => isEnded(each) && each.attempt_count === 2,
      );
      expect(again).toMatchObject({ status: 'succeeded', last_status_code: 204 });
      await until('the work is done', () => printed(id).length > 0, { withinMs });
      expect(printed(id)).toEqual([`event batch.completed ${id}`]);
    }, 120_000);

    it('refuses a delivery that is signed with another secret', async () => {
      const other = await customer.createWebhook(receiver.url('/webhooks'));
      const { body: sent } = await customer.call('POST', `/v1/webhooks/${other.id}/test`);
      const delivery = await untilDelivery(customer, `&event_id=${sent.event_id}`, isEnded);
      expect(delivery).toMatchObject({ status: 'failed', last_status_code: 401 });
      expect(printed(sent.event_id)).toEqual([]);
    });

    it('does not start without a secret, because anybody could sign with an empty key', async () => {
      const source = codeBelow(pageOf('quick-start'), `### ${language}`);
      const started = startProgram({ ...how, name: language, source }, stage, '');
      await expect(started).rejects.toThrow('Set WEBHOOK_SECRET.');
    }, 120_000);

    it('accepts the request that test-locally.md signs by hand, and refuses it with another body', async () => {
      const script = codeBelow(pageOf('test-locally'), '## Sign a request yourself');
      const env = { ...process.env, PORT: String(receiver.port), WEBHOOK_SECRET: webhook.secret };
      const statusOf = async (commands: string) => {
        const { stdout } = await promisify(execFile)('sh', ['-ec', commands], { env });
        return Number(/^HTTP\/\S+ (\d+)/.exec(stdout)?.[1]);
      };
      expect(await statusOf(script)).toBe(204);
      expect(await statusOf(script.replace('-d "$body"', '-d "$body "'))).toBe(401);
    });
  });
}
