import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Delivery,
  Webhook,
  WebhookHealth,
  WebhookStatistics,
  WebhookWithSecret,
} from '@enterprise-api/shared/contracts';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliStage, openCliStage } from './stage.ts';

describe('enterprise-api', () => {
  let stage: CliStage;
  let receiverUrl: string;

  beforeAll(async () => {
    stage = await openCliStage();
    await stage.stage.startWorker();
    const receiver = await stage.stage.startReceiver();
    receiverUrl = receiver.url('/hook');
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());

  const run = (args: string[], input?: string) => stage.cli.run(args, input === undefined ? {} : { input });
  const json = <Result>(...args: string[]) => stage.cli.json<Result>(args);
  const createWebhook = (...args: string[]) =>
    json<WebhookWithSecret>('webhooks', 'create', receiverUrl, '--events', '*', ...args);
  const emit = (type: string, data: object) =>
    json<{ id: string }[]>(
      'events',
      'send',
      '--org',
      stage.customer.organizationId,
      '--type',
      type,
      '--data',
      JSON.stringify(data),
    );

  it('explains which webhooks got an event, and which would get one', async () => {
    const { id } = await createWebhook('--disabled');
    const [event] = await emit('batch.failed', { batch_id: 'bat_1' });
    const args = ['events', 'explain', event?.id ?? '', '--webhook', id];
    await until('the fan-out', () => json<{ fanned_out_at: string | null }>(...args), {
      holds: ({ fanned_out_at }) => fanned_out_at !== null,
    });
    const explained = await run(args);
    expect(explained.stdout).toMatch(new RegExp(`${id} +skipped\\??.*was disabled\\.`));
    expect(await json('webhooks', 'explain', '--type', 'batch.failed', '--webhook', id)).toMatchObject({
      event_id: null,
      data: [{ webhook_id: id, outcome: 'skipped', reason: 'disabled' }],
    });
    await run(['webhooks', 'delete', id, '--yes']);
  });

  it('shows the health and the statistics of webhooks', async () => {
    const { id } = await createWebhook();
    await emit('batch.failed', { batch_id: 'bat_health' });
    const ofWebhook = ['webhooks', 'statistics', '--webhook', id];
    await until('the attempt is in the statistics', async () => {
      const { totals } = await json<WebhookStatistics>(...ofWebhook, '--since', '2h', '--granularity', 'minute');
      return totals.succeeded === 1;
    });
    expect(await json('webhooks', 'health', id)).toMatchObject({ webhook_id: id, state: 'healthy', causes: [] });
    expect((await run(['webhooks', 'health', id])).stdout).toMatch(/state +healthy/);
    expect(await json<WebhookHealth[]>('webhooks', 'health')).toContainEqual(
      expect.objectContaining({ webhook_id: id, state: 'healthy' }),
    );
    expect((await run([...ofWebhook, '--by', 'event_type'])).stdout).toContain('batch.failed\t1\t0');
    expect(await run([...ofWebhook, '--since', '90s'])).toMatchObject({ code: 6 });
    await run(['webhooks', 'delete', id, '--yes']);
  });

  it('creates, lists, shows, changes and deletes webhooks', async () => {
    const created = await createWebhook('--description', 'first', '--disabled');
    expect(created).toMatchObject({
      url: receiverUrl,
      events: ['*'],
      enabled: false,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await json<Webhook[]>('webhooks', 'list', '--disabled')).toContainEqual(
      expect.objectContaining({ id: created.id }),
    );
    expect(await json<Webhook[]>('webhooks', 'list', '--enabled')).not.toContainEqual(
      expect.objectContaining({ id: created.id }),
    );

    const changes = ['--enable', '--events', 'batch.failed', '-e', 'consultation.*', '--description', ''];
    const updated = await json<Webhook>('webhooks', 'update', created.id, ...changes);
    expect(updated).toMatchObject({ enabled: true, events: ['batch.failed', 'consultation.*'], description: null });
    expect(await json('webhooks', 'show', created.id)).toEqual(updated);

    const rotated = await json<WebhookWithSecret>('webhooks', 'rotate-secret', created.id, '--overlap', '1h');
    expect(rotated.secret).not.toBe(created.secret);
    expect(await run(['webhooks', 'rotate-secret', created.id])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('409 conflict'),
    });

    expect(await run(['webhooks', 'delete', created.id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --yes.'),
    });
    expect(await run(['webhooks', 'delete', created.id, '--yes'])).toMatchObject({ code: 0 });
    expect(await run(['webhooks', 'show', created.id])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('404 not_found'),
    });
  });

  it('lets a webhook recover by itself, until it is told not to', async () => {
    const { id } = await createWebhook('--disabled', '--auto-recover');
    const shown = async () => (await run(['webhooks', 'show', id])).stdout;
    const changed = (...args: string[]) => json('webhooks', 'update', id, ...args);
    expect(await shown()).toMatch(/recovers +once a test succeeds/);
    expect(await changed('--description', 'other')).toMatchObject({ auto_recover: true });
    expect(await changed('--no-auto-recover')).toMatchObject({ auto_recover: false });
    expect(await shown()).not.toContain('recovers');
    expect(await changed('--auto-recover')).toMatchObject({ auto_recover: true });
    await run(['webhooks', 'delete', id, '--yes']);
    const { id: other } = await createWebhook();
    expect(await json('webhooks', 'show', other)).toMatchObject({ auto_recover: false });
    await run(['webhooks', 'delete', other, '--yes']);
  });

  it('tests a webhook, and shows, retries and replays its deliveries', async () => {
    const webhook = await createWebhook();
    const test = await json<Delivery>('webhooks', 'test', webhook.id);
    const showUntil = (status: string) =>
      until(`the delivery ${status}`, () => json<Delivery>('deliveries', 'show', test.id), {
        holds: (delivery) => delivery.status === status,
        withinMs: 30_000,
        everyMs: 200,
      });
    expect(await showUntil('succeeded')).toMatchObject({ attempts: [{ status_code: 200 }] });
    const shown = await run(['deliveries', 'show', test.id]);
    expect(shown.stdout).toContain('X-Service-Event');
    expect(shown.stdout).toContain('"type": "webhook.test"');
    expect(await json('deliveries', 'retry', test.id)).toMatchObject({ id: test.id, status: 'pending' });
    expect(await showUntil('succeeded')).toMatchObject({ attempt_count: 2 });
    const preview = await json('webhooks', 'replay', webhook.id, '--since', '1h', '--rate', '5', '--dry-run');
    expect(preview).toMatchObject({ object: 'replay_preview', estimated_seconds: 0 });
    const replay = await json<{ id: string }>(
      'webhooks',
      'replay',
      webhook.id,
      '--since',
      '1h',
      '--status-code',
      '503',
    );
    expect(await json('replays', 'list', '--webhook', webhook.id)).toMatchObject([{ id: replay.id }]);
    expect(await json('replays', 'get', replay.id)).toMatchObject({ id: replay.id, matched: 0 });
    expect(await json('replays', 'cancel', replay.id)).toMatchObject({ id: replay.id, pending: 0 });
    expect(await json('webhooks', 'replay', webhook.id, '--since', '1h')).toMatchObject({
      object: 'replay',
      matched: 0,
    });

    const listed = await json<Delivery[]>(
      'deliveries',
      'list',
      '--webhook',
      webhook.id,
      '--status',
      'succeeded',
      '--since',
      '1h',
    );
    expect(listed.map(({ id }) => id)).toEqual([test.id]);
    const example = await json<Delivery>('trigger', 'batch.failed');
    expect(example).toMatchObject({ webhook_id: webhook.id, event_type: 'batch.failed', test: true });
    const other = await createWebhook();
    expect(await run(['trigger', 'batch.failed'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Choose one with --webhook'),
    });
    const chosen = await json<Delivery>('trigger', 'webhook.test', '--webhook', other.id);
    expect(chosen).toMatchObject({ webhook_id: other.id, event_type: 'webhook.test', test: true });
    expect(await run(['trigger', 'no.type', '--webhook', other.id])).toMatchObject({ code: 6 });
    for (const { id } of [webhook, other]) await run(['webhooks', 'delete', id, '--yes']);
    expect(await run(['trigger', 'batch.failed'])).toMatchObject({ code: 5 });
  });

  it('says why a signature is refused', async () => {
    const { id, secret } = await createWebhook();
    const folder = stage.cli.configFolder;
    const [headers, body] = [join(folder, 'headers.txt'), join(folder, 'body')];
    const hex = createHmac('sha256', secret).update('{}').digest('hex');
    writeFileSync(headers, `POST / HTTP/1.1\nX-Service-Signature: ${hex}\n`);
    writeFileSync(body, '{}');
    expect(await json('webhooks', 'verify', id, '--headers', headers, '--body', body)).toMatchObject({ valid: true });
    const asJson = JSON.stringify({ 'x-service-signature': hex });
    const shown = await run(['webhooks', 'verify', id, '--headers', '-', '--body', body, '--computed', hex], asJson);
    expect(shown.stdout).toMatch(/computed +correct/);
    expect(await run(['webhooks', 'verify', id, '--headers', '-', '--body', '-'])).toMatchObject({ code: 2 });
    await run(['webhooks', 'delete', id, '--yes']);
  });

  it('prints the address of a page that exists', async () => {
    const { url } = await json<{ url: string }>('open', 'verify');
    expect(url).toMatch(/^http:.+\/docs\/verify$/);
    expect(await run(['open', 'no-such-page'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('There is no page'),
    });
  });

  it('emits the events of a file, more than one request takes', async () => {
    const line = (index: number) =>
      JSON.stringify({ type: 'batch.failed', id: `own-${index}`, data: { batch_id: `bat_${index}` } });
    const file = join(stage.cli.configFolder, 'events.ndjson');
    writeFileSync(file, `${Array.from({ length: 1_500 }, (_, index) => line(index)).join('\n')}\n\n`);
    const args = ['events', 'send', '--file', file, '--org', stage.customer.organizationId];
    expect(await json<object[]>(...args)).toHaveLength(1_500);
    const again = await json<{ duplicate: boolean }[]>(...args);
    expect(again.every(({ duplicate }) => duplicate)).toBe(true);
    expect(await run(['events', 'send', '--file', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Line 1 has no organization_id.'),
    });
  });

  it('sends any request, and prints the answer also when it is a refusal', async () => {
    const found = await run(['request', 'get', '/v1/me', '--include']);
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect(found.stdout).toMatch(/^HTTP 200\n(.+: .*\n)+\n\{"object":"me"/);
    const refused = await run(['request', 'POST', '/v1/webhooks', '--data', '{"url":1}']);
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('events: is required') });
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'validation_failed' } });
    expect(await run(['request', 'GET', 'v1/me'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('path must begin with /'),
    });
    expect(await run(['request', 'GET', '/v1/me', '-H', 'nonsense'])).toMatchObject({ code: 2 });
  });

  it('manages organizations and keys, and shows who did what', async () => {
    const organization = await json<{ id: string }>(
      'orgs',
      'create',
      'Beta',
      '--plan',
      'pro',
      '--external-id',
      'beta-1',
      '--actor',
      'ada',
    );
    expect(await json('orgs', 'list', '--external-id', 'beta-1')).toEqual([
      expect.objectContaining({ id: organization.id }),
    ]);
    expect(await json('orgs', 'update', organization.id, '--plan', 'business')).toMatchObject({ plan: 'business' });
    const keep = ['orgs', 'update', organization.id, '--body-retention'];
    expect(await json(...keep, '7d')).toMatchObject({ body_retention_seconds: 604_800 });
    expect(await json(...keep, '')).toMatchObject({ body_retention_seconds: null });
    const key = await json<{ id: string; secret: string }>(
      'keys',
      'create',
      organization.id,
      '--name',
      'ci',
      '--scopes',
      'me:read,usage:read',
    );
    expect(await json('keys', 'show', organization.id, key.id)).toMatchObject({
      name: 'ci',
      scopes: ['me:read', 'usage:read'],
    });
    expect((await run(['keys', 'list', organization.id])).stdout).not.toContain(key.secret);
    expect(await json('keys', 'list', organization.id, '--expires-before', '7d')).toEqual([]);
    expect(await json('keys', 'list', organization.id, '--unused-since', '0s')).toHaveLength(1);
    expect(await json('keys', 'update', organization.id, key.id, '--allow', '203.0.113.0/24')).toMatchObject({
      ip_allowlist: ['203.0.113.0/24'],
    });
    const report = ['keys', 'update', organization.id, key.id, '--allowlist-mode', 'report'];
    expect(await json(...report)).toMatchObject({ outside_allowlist: { count: 0, last_at: null, addresses: [] } });
    expect(await json('keys', 'update', organization.id, key.id, '--allow-all')).toMatchObject({ ip_allowlist: null });
    expect(await run(['keys', 'revoke', organization.id, key.id, '--yes'])).toMatchObject({ code: 0 });
    const leaked = await json<{ secret: string }>(
      'keys',
      'create',
      organization.id,
      '--name',
      'leaked',
      '--scopes',
      'panels:read',
    );
    const env = { ENTERPRISE_API_KEY: leaked.secret };
    const unsure = { code: 2, stderr: expect.stringContaining('--yes') };
    expect(await stage.cli.run(['revoke'], { env })).toMatchObject(unsure);
    const revoked = { code: 0, stdout: `Revoked ${leaked.secret.slice(0, 12)}….\n` };
    expect(await stage.cli.run(['revoke', '--yes'], { env })).toMatchObject(revoked);
    expect(await stage.cli.run(['revoke', '--yes'], { env })).toMatchObject({ code: 3 });
    expect(await run(['orgs', 'close', organization.id], 'Alpha')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing was closed.'),
    });
    const closed = await run(['--json', 'orgs', 'close', organization.id, '--erase-after', '1h'], 'Beta\n');
    expect(JSON.parse(closed.stdout)).toMatchObject({ state: 'closing', external_id: null, closed_at: null });
    const entries = await json<{ action: string; on_behalf_of: string | null }[]>('audit', '--org', organization.id);
    expect(entries.map(({ action }) => action)).toEqual([
      'organization.closed',
      'api_key.deleted',
      'api_key.created',
      'api_key.deleted',
      'api_key.updated',
      'api_key.updated',
      'api_key.updated',
      'api_key.created',
      'organization.updated',
      'organization.updated',
      'organization.updated',
      'organization.created',
    ]);
    expect(entries.at(-1)).toMatchObject({ on_behalf_of: 'ada' });
  });

  it('shows the usage of a period', async () => {
    await emit('batch.failed', { batch_id: 'bat_usage' });
    await until('requests are counted', async () => (await run(['usage', '--granularity', 'hour'])).stdout, {
      withinMs: 30_000,
    });
    expect(await json('usage', '--by', 'area')).toMatchObject({ object: 'usage', granularity: 'day' });
    expect((await run(['usage'])).stderr).toMatch(/ to .* requests \(\d+ refused\)/);
  });

  it('tails deliveries: each when it is made and when it has changed, as one line of JSON', async () => {
    const webhook = await createWebhook();
    const tail = await stage.cli.start(['deliveries', 'tail', '--webhook', webhook.id, '--json']);
    await until('the tail has begun', () => tail.lines.some((line) => line.includes('Ctrl-C')), { withinMs: 30_000 });
    const [event] = await emit('batch.completed', { batch_id: 'bat_tail' });
    const records = () => tail.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Delivery);
    const last = await until('the delivery succeeded', () => records().at(-1), {
      holds: (delivery) => delivery?.status === 'succeeded',
      withinMs: 30_000,
    });
    expect(last).toMatchObject({ event_id: event?.id, attempt_count: 1 });
    tail.kill('SIGINT');
    expect(await tail.exited).toEqual({ code: 130, signal: null });
    await run(['webhooks', 'delete', webhook.id, '--yes']);
  });

  it('says when the API is not reached', async () => {
    const env = { ENTERPRISE_API_URL: 'http://127.0.0.1:1' };
    const { code, stderr } = await stage.cli.run(['me'], { env });
    expect(code).toBe(9);
    expect(stderr).toContain('Check that the API runs and that the address is right.');
    expect(stderr).not.toContain(stage.customer.key);
  });
});
