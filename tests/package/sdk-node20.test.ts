import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { testWebhookSecret } from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createEmptyFolder } from './empty-folder.ts';

describeWith(['node20'], (oldNode) => {
  const consumer = createEmptyFolder();

  beforeAll(async () => consumer.install(await consumer.pack('sdk')), 240_000);
  afterAll(() => consumer.remove());

  describe('the verifier of the package @enterprise-api/sdk', () => {
    it('runs on Node.js 20, with both signatures', () => {
      const body = '{"id":"evt_1","type":"batch.failed","timestamp":"","organization_id":"","data":{}}';
      const now = new Date();
      const hex = { 'x-service-signature': createHmac('sha256', testWebhookSecret).update(body).digest('hex') };
      const standard = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(testWebhookSecret).sign('evt_1', now, body),
      };
      const program = `
      import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
      const [secret, rawBody, ...all] = process.argv.slice(1);
      for (const headers of all.map((text) => JSON.parse(text))) {
        const verdict = verifyWebhook({ headers, rawBody, secret });
        console.log(await verdict.then((event) => event.id, (error) => error.reason));
      }
    `;
      const inputs = [testWebhookSecret, body, ...[hex, standard, {}].map((headers) => JSON.stringify(headers))];
      const options = { cwd: consumer.path, encoding: 'utf8', timeout: 60_000 } as const;
      const said = execFileSync(oldNode, ['--input-type=module', '--eval', program, ...inputs], options);
      expect(said.trim().split('\n')).toEqual(['evt_1', 'evt_1', 'missing_signature']);
    });
  });
});
