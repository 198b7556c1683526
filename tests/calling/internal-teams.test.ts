import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, openApiStage, projectFolder, spawnGuarded, until } from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describe, expect, it } from '@jest/globals';
import { createTestSigningKey } from '../e2e/identity.ts';
import { describeOutbox } from './describe-outbox.ts';

const page = readFileSync(join(projectFolder, 'docs/internal/behind-the-door.md'), 'utf8');

interface Runner {
  fileName: string;
  /** Brings the packages that the page names into the folder. */
  install: (run: (command: string, ...args: string[]) => Promise<unknown>, folder: string) => unknown;
  start: readonly [command: string, ...args: string[]];
}

/** Starts the program that the page has in this language, behind a real API, and asks it as a customer and directly. */
function describeService(language: string, { fileName, install, start: [command, ...args] }: Runner): void {
  it(`docs/internal/behind-the-door.md: the service in ${language} answers requests of the API alone`, async () => {
    const [, source] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
    if (source === undefined) throw new Error(`The page has no program in ${language}.`);
    await using resources = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-door-'));
    resources.defer(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, fileName), source);
    await install((name, ...its) => promisify(execFile)(name, its, { cwd: folder }), folder);
    const port = await freePort();
    const key = createTestSigningKey();
    const settings = { API_UPSTREAMS: `panels=http://127.0.0.1:${port}`, IDENTITY_SIGNING_KEYS: key.setting };
    const { api, customer } = resources.use(await openApiStage(settings));
    const env = { ...process.env, API_INTERNAL_URL: api.internalUrl, PORT: String(port) };
    resources.use(await spawnGuarded(command, args, { env, cwd: folder }));
    const ask = async (token?: string) => {
      const headers = token === undefined ? undefined : { 'X-Identity-Token': token };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/panels/1`, { headers: { ...headers } });
      return { status: answer.status, body: (await answer.json()) as { error?: { code: string } } };
    };
    await until('the service', () => ask().catch(() => undefined), { holds: Boolean });

    expect(await customer.call('GET', '/v1/panels/1')).toMatchObject({
      status: 200,
      body: { organization_id: customer.organizationId },
    });
    expect((await customer.call('HEAD', '/v1/panels/1')).status).toBe(200);
    const own = customer.organizationId;
    const wrong = {
      missing: undefined,
      'not a token': 'a.b.c',
      'for another area': await key.tokenFor(own, 'batches'),
      'of another issuer': await key.tokenFor(own, 'panels', { issuer: 'somebody' }),
      expired: await key.tokenFor(own, 'panels', { expiresIn: -120 }),
      'signed with another key': await createTestSigningKey().tokenFor(own, 'panels'),
    };
    for (const [what, token] of Object.entries(wrong)) {
      const { status, body } = await ask(token);
      expect({ what, status, code: body.error?.code }).toEqual({ what, status: 401, code: 'unauthorized' });
    }
    const { status } = await ask(await key.tokenFor(own, 'panels', { kid: 'unknown' }));
    expect(status).toBe(language === 'go' || language === 'java' ? 503 : 401);
  }, 600_000);
}

describe('Node.js', () => {
  describeService('js', {
    fileName: 'service.mjs',
    install: (_run, folder) => symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules')),
    start: [process.execPath, 'service.mjs'],
  });
});

describe('Python', () => {
  describeWith(['python', 'downloads'], (python) => {
    describeOutbox(python);
    describeService('python', {
      fileName: 'service.py',
      install: async (run) => {
        await run(python, '-m', 'venv', 'venv');
        await run('venv/bin/pip', 'install', '--quiet', 'PyJWT[crypto]==2.15.1');
      },
      start: ['venv/bin/python', 'service.py'],
    });
  });
});

describe('Go', () => {
  describeWith(['go', 'downloads'], (go) => {
    describeService('go', {
      fileName: 'main.go',
      install: async (run) => {
        await run(go, 'mod', 'init', 'panels');
        await run(go, 'get', 'github.com/golang-jwt/jwt/v5@v5.3.1', 'github.com/MicahParks/keyfunc/v3@v3.9.1');
        await run(go, 'build', '-o', 'service', '.');
      },
      start: ['./service'],
    });
  });
});

describe('Java', () => {
  const jose4j = 'org.bitbucket.b_c:jose4j:0.9.6';
  describeWith(['maven', 'downloads'], (maven) => {
    describeService('java', {
      fileName: 'Panels.java',
      install: async (run) => {
        for (const artifact of [jose4j, 'org.slf4j:slf4j-api:1.7.36']) {
          await run(maven, '--batch-mode', 'dependency:copy', `-Dartifact=${artifact}`, '-DoutputDirectory=packages');
        }
      },
      start: ['java', '-cp', 'packages/*', 'Panels.java'],
    });
  });
});
