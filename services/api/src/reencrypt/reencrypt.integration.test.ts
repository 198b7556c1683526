import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { webhookHeadersContext, webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { createSecretBox, parseKeyRing } from '@enterprise-api/shared/security';
import {
  inParallel,
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  spawnGuarded,
  testKeyRing,
  testWebhookSecret,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { answerContext } from '../idempotency/run-once.ts';
import { reencrypt } from './reencrypt.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const newKey = `newest:${randomBytes(32).toString('base64')}`;
const rotated = `${newKey},${testKeyRing}`;
let db: Database;
let url: string;
let close: () => Promise<void>;
let organizationId: string;

const ringOf = (text: string) => {
  const parsed = parseKeyRing(text);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.keys;
};
const onlyNew = createSecretBox(ringOf(newKey));
const onlyOld = createSecretBox(ringOf(testKeyRing));
const both = createSecretBox(ringOf(rotated));

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate webhooks, webhook_versions, idempotency_keys cascade`.execute(db);
  organizationId = await insertOrganization(db);
});

/** Copies of one sealed webhook would not open: each is sealed for its own id. */
async function insertWebhooks(count: number): Promise<void> {
  const webhooks = Array.from({ length: count }, () => ({ organizationId }));
  await inParallel(webhooks, 5, async (values) => void (await insertWebhook(db, values)));
}

const findRows = () => db.selectFrom('webhooks').selectAll().orderBy('id').execute();
type Rows = Awaited<ReturnType<typeof findRows>>;
const underNewKey = (rows: Rows) => rows.filter((row) => row.secret_sealed?.startsWith('v1.newest.')).length;
const open = (rows: Rows, box = both) =>
  new Set(rows.map((row) => box.open(row.secret_sealed ?? '', webhookSecretContext(row.organization_id, row.id))));

function run(ring: string, onLine?: (line: string) => void, args: string[] = []) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url, SECRETS_ENCRYPTION_KEYS: ring };
  const options = { cwd: root, env, ...(onLine !== undefined && { onLine }) };
  return spawnGuarded(process.execPath, ['services/api/src/reencrypt-main.ts', ...args], options);
}

describe('re-encryption', () => {
  it('puts every secret under the newest key, also previous ones and those of deleted webhooks, and changes nothing else', async () => {
    await insertWebhooks(3);
    await insertWebhook(db, { organizationId, state: 'deleted' });
    const [first] = await findRows();
    const previous = onlyOld.seal('whsec_previous', webhookSecretContext(organizationId, first?.id ?? ''));
    const headersContext = webhookHeadersContext(organizationId, first?.id ?? '');
    const headers = onlyOld.seal('[["a","b"]]', headersContext);
    await sql`
      update webhooks set previous_secret_sealed = ${previous}, headers_sealed = ${headers} where id = ${first?.id}`.execute(
      db,
    );
    const before = await findRows();

    expect(await reencrypt(db, ringOf(rotated))).toEqual([
      { name: 'webhook secrets', changed: 4, unreadable: 0, left: 0 },
      { name: 'webhook headers', changed: 1, unreadable: 0, left: 0 },
      { name: 'stored answers', changed: 0, unreadable: 0, left: 0 },
    ]);
    const after = await findRows();
    expect(open(after, onlyNew)).toEqual(new Set([testWebhookSecret]));
    const kept = after.find((row) => row.id === first?.id);
    const context = webhookSecretContext(organizationId, first?.id ?? '');
    expect(onlyNew.open(kept?.previous_secret_sealed ?? '', context)).toBe('whsec_previous');
    expect(onlyNew.open(kept?.headers_sealed ?? '', headersContext)).toBe('[["a","b"]]');
    const erased = { secret_sealed: '', previous_secret_sealed: '', headers_sealed: '' };
    const rest = (rows: Rows) => rows.map((row) => ({ ...row, ...erased }));
    expect(rest(after)).toEqual(rest(before));

    await reencrypt(db, ringOf(rotated));
    expect(await findRows()).toEqual(after);
  });

  it('includes stored answers, which may hold new secrets', async () => {
    const id = randomBytes(32);
    const body_sealed = onlyOld.seal('{"secret":"whsec_x"}', answerContext(organizationId, id.toString('hex')));
    const answer = { organization_id: organizationId, fingerprint: id, status: 201, headers: {} };
    await db
      .insertInto('idempotency_keys')
      .values([
        { id, ...answer, body_sealed },
        { id: randomBytes(32), ...answer, body_sealed: null },
      ])
      .execute();
    expect((await reencrypt(db, ringOf(rotated)))[2]).toMatchObject({ changed: 1, left: 0 });
    const row = await db.selectFrom('idempotency_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const context = answerContext(organizationId, id.toString('hex'));
    expect(onlyNew.open(row.body_sealed ?? '', context)).toBe('{"secret":"whsec_x"}');
  });

  it('leaves values that no key opens as they are, counts them, and re-encrypts the rest', async () => {
    await insertWebhooks(5);
    const lost = createSecretBox(ringOf(`lost:${randomBytes(32).toString('base64')}`)).seal('x', 'y');
    const [victim] = await findRows();
    await sql`update webhooks set secret_sealed = ${lost} where id = ${victim?.id}`.execute(db);
    const [webhooks] = await reencrypt(db, ringOf(rotated), { batchSize: 2 });
    expect(webhooks).toEqual({ name: 'webhook secrets', changed: 4, unreadable: 1, left: 0 });
    expect((await findRows()).find((row) => row.id === victim?.id)?.secret_sealed).toBe(lost);
    const command = await run(rotated);
    expect((await command.exited).code).toBe(1);
    expect(command.lines.join('\n')).toContain('0 encrypted again under key newest, 0 left, 1 unreadable');
  });

  it('skips locked rows, and re-encrypts them in a later pass', async () => {
    await insertWebhooks(4);
    const [held] = await findRows();
    const released = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holder = db.transaction().execute(async (trx) => {
      await sql`select 1 from webhooks where id = ${held?.id} for update`.execute(trx);
      isHeld.resolve();
      await released.promise;
    });
    await isHeld.promise;
    const pause = async () => {
      expect(underNewKey(await findRows())).toBe(3);
      released.resolve();
      await holder;
    };
    expect((await reencrypt(db, ringOf(rotated), { pause }))[0]).toMatchObject({ changed: 4, left: 0 });
  });

  it('counts the values that are left when a process still writes with an older key', async () => {
    await insertWebhooks(1);
    const pause = () => insertWebhook(db, { organizationId });
    expect((await reencrypt(db, ringOf(rotated), { pause, onProgress: pause }))[0]?.left).toBeGreaterThan(0);
  });
});

describe('the command', () => {
  it('ends with every secret readable under the new key, though killed, run twice at once, and beside rotations', async () => {
    await insertWebhooks(1_500);
    for (let kill = 0; kill < 3; kill++) {
      const progress = Promise.withResolvers<void>();
      const command = await run(rotated, () => progress.resolve());
      await progress.promise;
      command.kill('SIGKILL');
      await command.exited;
      const rows = await findRows();
      expect(underNewKey(rows)).toBeGreaterThan(0);
      expect(open(rows)).toEqual(new Set([testWebhookSecret]));
    }
    const commands = await Promise.all([run(rotated), run(rotated)]);
    const secret = 'whsec_rotated meanwhile';
    const [row] = await findRows();
    const sealed = both.seal(secret, webhookSecretContext(organizationId, row?.id ?? ''));
    await sql`update webhooks set secret_sealed = ${sealed}, version = version + 1 where id = ${row?.id}`.execute(db);
    for (const command of commands) expect(await command.exited).toMatchObject({ code: 0 });
    expect(open(await findRows(), onlyNew)).toEqual(new Set([testWebhookSecret, secret]));
  });

  it('has nothing to do the second time, and never prints a secret or a key', async () => {
    await insertWebhooks(2);
    const first = await run(rotated);
    expect((await first.exited).code).toBe(0);
    const second = await run(rotated);
    expect((await second.exited).code).toBe(0);
    expect(second.lines).toEqual([
      'webhook secrets: 0 encrypted again under key newest, 0 left, 0 unreadable.',
      'webhook headers: 0 encrypted again under key newest, 0 left, 0 unreadable.',
      'stored answers: 0 encrypted again under key newest, 0 left, 0 unreadable.',
    ]);
    const output = [...first.lines, ...second.lines].join('\n');
    for (const secret of [testWebhookSecret, newKey.slice(7), testKeyRing.slice(5)])
      expect(output).not.toContain(secret);
  });

  it('refuses, when told to, a first key that no service encrypts with, and changes nothing', async () => {
    const runGuarded = async (ring: string) => {
      const command = await run(ring, undefined, ['--only-key-in-use']);
      return { code: (await command.exited).code, output: command.lines.join('\n') };
    };
    expect((await runGuarded(rotated)).code).toBe(0);
    await insertWebhooks(3);
    const before = await findRows();
    const refused = await runGuarded(rotated);
    expect(refused).toEqual({ code: 78, output: expect.stringContaining('first key, newest') });
    expect(await findRows()).toEqual(before);

    const [first] = before;
    const seal = (box: typeof both) =>
      box.seal(testWebhookSecret, webhookSecretContext(organizationId, first?.id ?? ''));
    const rotate = (sealed: string) =>
      sql`update webhooks set secret_sealed = ${sealed} where id = ${first?.id}`.execute(db);
    // The services have another key of the same name.
    await rotate(seal(createSecretBox(ringOf(`newest:${randomBytes(32).toString('base64')}`))));
    expect((await runGuarded(rotated)).code).toBe(78);
    expect(underNewKey(await findRows())).toBe(1);

    await rotate(seal(both));
    expect((await runGuarded(rotated)).code).toBe(0);
    expect(open(await findRows(), onlyNew)).toEqual(new Set([testWebhookSecret]));
  });

  it('exits 78 for invalid settings', async () => {
    const command = await run(`short:${Buffer.alloc(8).toString('base64')}`);
    expect((await command.exited).code).toBe(78);
  });
});
