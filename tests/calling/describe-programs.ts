import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiListeners, createApiCustomer, openStage, projectFolder, type Stage } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Front, retryAfterSeconds, startFront } from './front.ts';
import { readProgram } from './programs.ts';

/** Runs a command in the folder of a program. */
type Run = (command: string, args: readonly string[]) => Promise<{ stdout: string }>;

/** How a program is run: the name of its file, and the command. */
export interface Runner {
  fileName: string;
  command: string;
  args: readonly string[];
  /** Brings the packages of others into the program's folder. Without it the program has those of this repository. */
  fetchPackages?(run: Run, folder: string): Promise<unknown>;
}

/** A first run compiles what it downloads. */
const withinMs = 1_200_000;

/** A timer may end a little early by another clock. */
const patienceMs = 1_000 * retryAfterSeconds - 10;

/** Runs programs of docs/customers/call-the-api.md and examples/clients against the real API, behind a server that refuses once and loses one answer. */
export function describePrograms(language: string, titles: readonly string[], runner: Runner): void {
  let stage: Stage;
  let api: ApiListeners;

  beforeAll(async () => {
    stage = await openStage({ redisUrl: undefined });
    api = await stage.startApi();
  }, 120_000);
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
  });

  describe(`the clients in ${language}`, () => {
    it.each(titles)(
      '%s: a call, retries that wait and do nothing twice, the message of an error',
      async (title) => {
        const customer = await createApiCustomer(api);
        await using front = await startFront(api.url);
        const output = await runProgram(readProgram(title), runner, {
          API: front.url,
          API_KEY: customer.key,
        });
        expectPatience(front);
        const { body: webhooks } = await customer.call('GET', '/v1/webhooks');
        expect(webhooks.data).toHaveLength(1);
        const refused = front.requests.at(-1)?.answer?.body.error;
        expect(refused).toMatchObject({ code: 'url_not_allowed', request_id: expect.stringMatching(/^req_/) });
        for (const part of ['Acme', webhooks.data[0].id, refused.code, refused.message, refused.request_id]) {
          expect(output).toContain(part);
        }
      },
      withinMs,
    );
  });
}

/** The refused GET and the POST without an answer came again when they were asked to, the POST with its key. */
function expectPatience({ requests }: Front): void {
  expect(requests.map(({ method, path, answer }) => `${method} ${path} ${answer?.status}`)).toEqual([
    'GET /v1/me undefined',
    'GET /v1/me 200',
    'POST /v1/webhooks 201',
    'POST /v1/webhooks 201',
    'POST /v1/webhooks 400',
  ]);
  const [refused, answered, lost, replayed] = requests;
  expect(Number(answered?.at) - Number(refused?.at)).toBeGreaterThanOrEqual(patienceMs);
  expect(Number(replayed?.at) - Number(lost?.at)).toBeGreaterThanOrEqual(patienceMs);
  expect(lost?.idempotencyKey).toBeDefined();
  expect(replayed?.idempotencyKey).toBe(lost?.idempotencyKey);
}

/** The output of a program, in a folder of its own. */
async function runProgram(source: string, runner: Runner, settings: Record<string, string>): Promise<string> {
  const { fileName, command, args, fetchPackages } = runner;
  const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-calling-'));
  const env = { ...process.env, ...settings };
  const run: Run = (name, its) => promisify(execFile)(name, [...its], { cwd: folder, env, timeout: withinMs });
  try {
    if (fetchPackages) await fetchPackages(run, folder);
    else symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, fileName), source);
    return (await run(command, [...args, fileName])).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
