import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  createTemporaryFolder,
  openApiStage,
  projectFolder,
  spawnGuarded,
  testInternalSecret,
  until,
} from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';

const page = readFileSync(join(projectFolder, 'docs/internal/emit-events.md'), 'utf8');
const block = (language: string, start: string) => {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  const [, found] = blocks.find(([, text]) => text?.startsWith(start)) ?? [];
  if (found === undefined) throw new Error(`The page has no ${language} that begins with ${start}`);
  return found;
};

/** @param python the path of its program */
export function describeOutbox(python: string): void {
  it('docs/internal/emit-events.md: the loop sends each event of the outbox once and keeps what is refused', async () => {
    await using resources = new AsyncDisposableStack();
    const { stage, api, customer } = resources.use(await openApiStage());
    const { path: cwd } = resources.use(createTemporaryFolder('outbox'));
    await promisify(execFile)(python, ['-m', 'venv', 'venv'], { cwd });
    await promisify(execFile)('venv/bin/pip', ['install', '--quiet', 'psycopg[binary]==3.3.9'], { cwd });
    writeFileSync(join(cwd, 'outbox.py'), block('python', 'import json'));
    const work = block('sql', 'begin;').replace('org_…', customer.organizationId);
    const other = work.replace('org_…', 'nobody').replace(customer.organizationId, 'nobody');
    const prepare = 'create table consultations (id text, status text);';
    await sql.raw(`${block('sql', 'create table event_outbox')} ${prepare} ${work} ${work} ${other}`).execute(stage.db);

    const env = {
      ...process.env,
      DATABASE_URL: stage.databaseUrl,
      API_INTERNAL_URL: api.internalUrl,
      INTERNAL_EVENTS_SECRET: testInternalSecret,
    };
    resources.use(await spawnGuarded('venv/bin/python', ['outbox.py'], { env, cwd }));
    const waiting = () => sql<{ refused: string | null }>`select refused from event_outbox`.execute(stage.db);
    const { rows } = await until('the refused event alone', waiting, {
      holds: (result) => result.rows.length === 1 && result.rows[0]?.refused !== null,
    });
    expect(rows[0]?.refused).toContain('validation_failed');
    const { body } = await customer.call('GET', '/v1/events');
    expect(body.data).toMatchObject([{ type: 'consultation.completed', data: { consultation_id: 'con_17' } }]);
  }, 600_000);
}
