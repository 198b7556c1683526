import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { type ApiListeners, openStage, type Receiver, type Stage, testInternalSecret } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** Runs a program in a folder, and resolves with its output. */
type Run = (command: string, args: readonly string[]) => Promise<{ stdout: string; stderr: string }>;

/** A generator of clients. */
export interface Generator {
  name: string;
  /** Makes the clients of both documents in the folder that `run` works in. The generator's warnings. */
  generate(run: Run, folder: string): Promise<string>;
  /** Walks with them. */
  walk(run: Run, folder: string): Promise<{ stdout: string }>;
}

/** A first run compiles what it downloads. */
const withinMs = 900_000;

/** Makes clients of the documents in docs/, and walks through the README with them against the real services. */
export function describeWalk({ name, generate, walk }: Generator): void {
  let folder: string;
  let stage: Stage;
  let api: ApiListeners;
  let receiver: Receiver;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'enterprise-api-clients-'));
    stage = await openStage({ redisUrl: undefined });
    [api, receiver] = await Promise.all([stage.startApi(), stage.startReceiver(), stage.startWorker()]);
  }, 120_000);
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  describe(`clients made by ${name}`, () => {
    it(
      'are made without a warning',
      async () => {
        expect(await generate(runIn(folder, {}), folder)).toBe('');
      },
      withinMs,
    );

    it(
      'register a webhook, get its deliveries, send them again, rotate its secret, and read what was used',
      async () => {
        const settings = { API_URL: api.url, INTERNAL_URL: api.internalUrl, INTERNAL_API_SECRET: testInternalSecret };
        const run = runIn(folder, { ...settings, RECEIVER_URL: receiver.url('/webhooks') });
        const [, secret = '', eventId] = (await walk(run, folder)).stdout.trim().split(' ');
        const verified = receiver.requests.map(({ headers, body }) =>
          verifyWebhook({ headers, rawBody: body, secret, toleranceSeconds: 300 }),
        );
        const received = (await Promise.all(verified)).map(({ id, type }) => [type, id]);
        const [test, ...others] = received;
        expect(test?.[0]).toBe('webhook.test');
        // Delivered, retried, replayed.
        expect(others).toEqual(Array(3).fill(['batch.completed', eventId]));
      },
      withinMs,
    );
  });
}

function runIn(cwd: string, settings: Record<string, string>): Run {
  return (command, args) => {
    // A Python of its own has the formatter of its generator beside it.
    const env = { ...process.env, PATH: `${dirname(command)}${delimiter}${process.env.PATH}`, ...settings };
    return promisify(execFile)(command, [...args], { cwd, env, timeout: withinMs });
  };
}
