import type { Page } from '@enterprise-api/shared/contracts';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { untilLockWait } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { isProblem } from '../http/problem.ts';
import { isBusy, type TestApi, withCustomer } from '../testing/test-api.ts';
import { createCursors, type PageQuestion, paginate } from './paging.ts';
import { search } from './search.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
withCustomer(async (customer) => {
  ({ api, key, organizationId } = customer);
  webhookId = (await api.createWebhook(key)).id;
});

const uuidOf = (id: string) => fromPublicId(id.slice(0, 3), id) as string;
const get = (path: string, query: object) => api.call('get', path, key).query(query).retry(3, isBusy);
const events = '/v1/events';
const deliveries = '/v1/webhooks/deliveries';
const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id);

async function emit(data: object): Promise<string> {
  const event = { organization_id: organizationId, type: 'batch.failed', data: { batch_id: 'bat_1', ...data } };
  const { body } = await api.internal('post', '/internal/v1/events').send(event).expect(202);
  return body.data[0].id;
}

/** Many events with these texts, in this order, written at once. */
async function writeMany(count: number, textOf: string): Promise<void> {
  await sql`with written as (
      insert into events (id, organization_id, type) select uuidv7(), ${uuidOf(organizationId)}, 'batch.failed'
      from generate_series(1, ${count}::int) returning id, position)
    insert into event_bodies select id, json_build_object('data', json_build_object('note', ${textOf}::text))::text
    from written`.execute(api.db);
}

async function deliver(fields: { status: number | null; error: string | null }): Promise<string> {
  const eventId = uuidOf(await emit({}));
  const { rows } = await sql<{ id: string }>`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at,
      last_status_code, last_error)
    select delivery_id(${eventId}::uuid, ${uuidOf(webhookId)}::uuid), ${uuidOf(organizationId)}, ${uuidOf(webhookId)},
      ${eventId}::uuid, 'batch.failed', 'failed', 3, now(), ${fields.status}::smallint, ${fields.error}
    returning id`.execute(api.db);
  return rows[0]?.id as string;
}

/** All pages of a search: the ids it found, and how many of the pages were empty. */
async function allPages(path: string, query: object): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await get(path, { ...query, ...(cursor && { cursor }) }).expect(200);
    found.push(...body.data.map(({ id }: { id: string }) => id));
    expect(body.searched_until === null).toBe(!body.has_more);
    cursor = body.next_cursor;
  }
  return found;
}

describe('q of GET /v1/events', () => {
  it('finds the text in strings of the data alone, literally and case-sensitive', async () => {
    const ids = {
      percent: await emit({ note: '100% of_it\\done "now"' }),
      upper: await emit({ note: 'ÄRGER 😀' }),
      deep: await emit({ list: [1, { inner: ['needle-7'] }] }),
      keyed: await emit({ 'needle-8': 12_345 }),
    };
    const found = async (q: string) => idsOf(await get(events, { q }).expect(200));
    expect(await found('% of_')).toEqual([ids.percent]);
    expect(await found('100_')).toEqual([]);
    expect(await found('it\\done "n')).toEqual([ids.percent]);
    expect(await found('ÄRGER 😀')).toEqual([ids.upper]);
    expect(await found('ärger')).toEqual([]);
    expect(await found('needle-')).toEqual([ids.deep]);
    expect(await found('12345')).toEqual([]);
    expect(await found('batch.failed')).toEqual([]);
    const { body } = await get(events, { q: 'needle-7' }).expect(200);
    expect(body).toMatchObject({ has_more: false, next_cursor: null, searched_until: null });
    expect((await get(events, {}).expect(200)).body).not.toHaveProperty('searched_until');
  });

  it('finds each event once over pages, also with the oldest first', async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 5; nth++) {
      ids.push(await emit({ note: 'page-mark' }));
      await writeMany(300, 'hay');
    }
    expect(await allPages(events, { q: 'page-mark', limit: 2 })).toEqual(ids.toReversed());
    const { body } = await get(events, { q: 'page-mark', limit: 3, order: 'asc' }).expect(200);
    expect(idsOf({ body })).toEqual(ids.slice(0, 3));
    const next = await get(events, { q: 'page-mark', limit: 3, order: 'asc', cursor: body.next_cursor }).expect(200);
    expect(idsOf(next)).toEqual(ids.slice(3));
  });

  it('reads on past more data than a page carries, and splits such data over pages', async () => {
    const id = await emit({ note: 'deep-mark' });
    await writeMany(40, 'hay '.repeat(60_000));
    expect(await allPages(events, { q: 'deep-mark' })).toEqual([id]);
    const { body } = await get(events, { q: 'hay', limit: 100 }).expect(200);
    expect(body.data.length).toBeLessThan(20);
    expect(new Set(await allPages(events, { q: 'hay', limit: 100 })).size).toBe(40);
  });

  it.each(['a', 'b'.repeat(201)])('400 for a text of the wrong length: %#', async (q) => {
    const { body } = await get(events, { q }).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param: 'q' });
  });

  it('429 while another search of the organization runs; lists and other organizations go on', async () => {
    const other = await api.createKey();
    await api.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('search of ' || ${uuidOf(organizationId)}, 0))`.execute(
        trx,
      );
      const { body, headers } = await get(events, { q: 'any' }).expect(429);
      expect(body.error).toMatchObject({ code: 'rate_limited', retry_after: 1 });
      expect(headers['retry-after']).toBe('1');
      await get(events, {}).expect(200);
      await get(deliveries, { last_status_code: '503' }).expect(429);
      await api.call('get', events, other.secret).query({ q: 'any' }).expect(200);
    });
    await get(events, { q: 'any' }).expect(200);
  });
});

describe('a search whose time is over', () => {
  const options = { beginning: { sortKey: '96', id: newUuid() }, rowsAtOnce: 1 };

  it.each([0, 1])(
    'within a statement keeps the rows of the %i statements before, and lets the next one search',
    async (fast) => {
      const row = { id: newUuid(), position: '7', created_at: new Date(0) };
      let reads = 0;
      const read = async (from: typeof api.db) => {
        if (reads++ === fast) await sql`select pg_sleep(20)`.execute(from);
        return [row];
      };
      const cursors = createCursors([{ id: 'test', key: Buffer.alloc(32) }]);
      const scope = { list: 'test', organizationId, filters: {} };
      const ask = (page: PageQuestion) =>
        search(api.db, uuidOf(organizationId), page, read, { ...options, matches: () => true, withinMs: 200 });
      const page = await paginate(cursors, { limit: 9 }, scope, ask, ({ id }) => id);
      if (isProblem(page)) throw new Error(page.problem);
      expect(page).toMatchObject({ data: fast === 0 ? [] : [row.id], has_more: true });
      expect(page.searched_until).toBe(fast === 0 ? null : row.created_at.toISOString());
      const place = fast === 0 ? options.beginning : { sortKey: '7', id: row.id };
      expect(cursors.open(page.next_cursor ?? '', scope)).toEqual(place);
      await get(events, { q: 'any' }).expect(200);
    },
  );

  it.each(['asc', 'desc'])('before the first row goes on with the first row, %s', async (order) => {
    const event = await emit({ note: 'late-mark' });
    const delivery = await deliver({ status: 503, error: 'http_error' });
    for (const [path, table, query, id] of [
      [events, 'events', { order, q: 'late-mark' }, uuidOf(event)],
      [deliveries, 'deliveries', { order, last_status_code: '503' }, delivery],
      [deliveries, 'deliveries', { order, webhook_id: webhookId, event_type: 'batch.failed' }, delivery],
      [deliveries, 'deliveries', { order, status: 'failed', event_type: 'batch.failed' }, delivery],
    ] as const) {
      const { body } = await api.db.transaction().execute(async (trx) => {
        await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
        return get(path, query).expect(200);
      });
      expect(body).toMatchObject({ data: [], has_more: true, searched_until: null });
      const next = await get(path, { ...query, cursor: body.next_cursor }).expect(200);
      expect(idsOf(next).map(uuidOf)).toEqual([id]);
    }
  });

  it('is no reason for a transaction around a list by type alone, which an index serves', async () => {
    const { answer, isAlone } = await api.db.transaction().execute(async (trx) => {
      await sql`lock table deliveries in access exclusive mode`.execute(trx);
      const answer = Promise.resolve(get(deliveries, { event_type: 'batch.failed' }).expect(200));
      await untilLockWait(api.db);
      const { rows } = await sql<{ isAlone: boolean }>`
        select xact_start = query_start as "isAlone" from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(api.db);
      return { answer: () => answer, isAlone: rows[0]?.isAlone };
    });
    expect(isAlone).toBe(true);
    expect((await answer()).body).not.toHaveProperty('searched_until');
  });

  it('says how far it looked, also on an empty page, and goes on from there', async () => {
    const second = (nth: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, nth));
    const rows = Array.from({ length: 95 }, (_, nth) => ({
      id: newUuid(),
      position: `${95 - nth}`,
      created_at: second(95 - nth),
    }));
    const isWanted = ({ position }: { position: string }) => ['50', '44', '1'].includes(position);
    const cursors = createCursors([{ id: 'test', key: Buffer.alloc(32) }]);
    const read = async (_db: unknown, { after, limit }: PageQuestion) =>
      rows.filter(({ position }) => after === null || Number(position) < Number(after.sortKey)).slice(0, limit);
    const ask = (page: PageQuestion) =>
      search(api.db, uuidOf(organizationId), page, read, {
        ...options,
        matches: isWanted,
        rowsAtOnce: 10,
        withinMs: 0,
      });
    const pages: Page<string>[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const request = { limit: 1, ...(cursor && { cursor }) };
      const scope = { list: 'test', organizationId, filters: {} };
      const page = await paginate(cursors, request, scope, ask, ({ position }) => position);
      if (isProblem(page)) throw new Error(page.problem);
      pages.push(page);
      cursor = page.next_cursor;
    }
    expect(pages.flatMap(({ data }) => data)).toEqual(['50', '44', '1']);
    expect(pages[0]).toMatchObject({ data: [], has_more: true, searched_until: second(86).toISOString() });
    expect(pages.at(-1)).toMatchObject({ has_more: false, searched_until: null });
  });
});

describe('filters of GET /v1/webhooks/deliveries', () => {
  it('find by id, last status and last error', async () => {
    const made = {
      unavailable: await deliver({ status: 503, error: 'http_error' }),
      internal: await deliver({ status: 500, error: 'http_error' }),
      gone: await deliver({ status: 404, error: 'http_error' }),
      silent: await deliver({ status: null, error: 'timeout' }),
    };
    const found = async (query: object) =>
      idsOf(await get(deliveries, query).expect(200)).map(
        (id) => Object.entries(made).find(([, uuid]) => uuid === uuidOf(id))?.[0],
      );
    expect(await found({ last_status_code: '503' })).toEqual(['unavailable']);
    expect(await found({ last_status_code: '5xx' })).toEqual(['internal', 'unavailable']);
    expect(await found({ last_error: 'timeout' })).toEqual(['silent']);
    expect(await found({ last_error: ['timeout', 'http_error'], last_status_code: '4xx' })).toEqual(['gone']);
    const silent = { last_error: 'timeout', event_type: 'batch.failed' };
    for (const more of [{}, { webhook_id: webhookId }]) {
      expect(await found({ ...silent, ...more, status: 'failed' })).toEqual(['silent']);
      expect(await found({ ...silent, ...more, status: 'canceled' })).toEqual([]);
      expect(await found({ ...silent, ...more, event_type: 'batch.completed' })).toEqual([]);
    }
    const pages = await allPages(deliveries, { last_error: 'http_error', limit: 1 });
    expect(pages.map(uuidOf)).toEqual([made.gone, made.internal, made.unavailable]);
    const [first = '', second = ''] = pages;
    expect(idsOf(await get(deliveries, { id: [second, first] }).expect(200))).toEqual([first, second]);
    expect(idsOf(await get(deliveries, { id: [first, second], last_status_code: '5xx' }).expect(200))).toEqual([
      second,
    ]);
    const stranger = await api.createKey();
    const foreign = await api.call('get', deliveries, stranger.secret).query({ id: first }).expect(200);
    expect(foreign.body.data).toEqual([]);
  });

  it.each([
    [{ last_status_code: '5x' }, 'last_status_code'],
    [{ last_status_code: '600' }, 'last_status_code'],
    [{ last_error: 'nonsense' }, 'last_error'],
    [{ id: Array.from({ length: 101 }, () => 'dlv_01jd6kz5r8e2v9qxm3c7t4b0na') }, 'id'],
  ])('400 for wrong values: %#', async (query, param) => {
    const { body } = await get(deliveries, query).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param });
  });
});
