import { textSchema } from '@enterprise-api/shared/contracts';
import { errorAnswer, type IdentifyCaller, RequestError } from '@enterprise-api/shared/internal-service';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import express, { type ErrorRequestHandler, type Express, type Router } from 'express';
import { sql } from 'kysely';
import { z } from 'zod';
import { outcomeOf, type Work } from './work.ts';

export interface AppOptions {
  db: Database;
  identify: IdentifyCaller;
  /** How long work takes. */
  workMs: number;
  onError: (error: unknown) => void;
}

const item = z.strictObject({ question: textSchema.min(1).max(2_000), fail: z.boolean().default(false) });
const batch = z.strictObject({ items: z.array(item).min(1).max(100) });
const cursor = z.string().regex(/^[\w~]+$/);
const page = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20), cursor: cursor.default('~') });
const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

const kinds = {
  consultation: { area: 'consultations', prefix: 'con', itemsOf: (body: unknown) => [item.parse(body)] },
  batch: { area: 'batches', prefix: 'bat', itemsOf: (body: unknown) => batch.parse(body).items },
} as const;

export function createApp(options: AppOptions): Express {
  const app = express().disable('x-powered-by');
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.use('/v1/consultations', workRoutes('consultation', options));
  app.use('/v1/batches', workRoutes('batch', options));
  app.use(() => {
    throw new RequestError('not_found', 'There is no such path.');
  });
  return app.use(errorHandler(options));
}

function workRoutes(kind: Work['kind'], { db, identify, workMs }: AppOptions): Router {
  const { area, prefix, itemsOf } = kinds[kind];
  const router = express.Router();

  // First who asks, then what: nobody else's body is read.
  router.use(async (request, { locals }, next) => {
    locals.organization = (await identify(request.get('X-Identity-Token'), area)).organizationId;
    next();
  });
  router.use(express.json({ limit: '64kb' }));

  // The same Idempotency-Key with the same body finds the work that the first request began, as it is now.
  router.post('/', async (request, response) => {
    const items = itemsOf(request.body);
    const { organization } = response.locals;
    const key = idempotencyKey.optional().parse(request.get('Idempotency-Key'));
    const begun = await sql<Work>`
      insert into consultations.work (id, organization_id, kind, items, idempotency_key, request_id, ends_at)
      values (${toPublicId(prefix, newUuid())}, ${organization}, ${kind}, ${JSON.stringify(items)}, ${key},
              ${request.get('X-Request-Id')}, now() + make_interval(secs => ${workMs / 1_000}))
      on conflict (organization_id, idempotency_key) do nothing returning *`.execute(db);
    const known = sql<Work>`
      select * from consultations.work where organization_id = ${organization} and idempotency_key = ${key}`;
    const work = begun.rows[0] ?? (await known.execute(db)).rows[0];
    const isSame = work?.kind === kind && JSON.stringify(work.items) === JSON.stringify(items);
    if (!isSame) throw new RequestError('idempotency_key_reused');
    if (begun.rows.length === 0) response.set('Idempotent-Replayed', 'true');
    response.status(201).location(`/v1/${area}/${work.id}`).json(present(work));
  });

  // Newest first: ids are in the order of time.
  router.get('/', async (request, response) => {
    const { limit, cursor } = page.parse(request.query);
    const { rows } = await sql<Work>`
      select * from consultations.work
      where organization_id = ${response.locals.organization} and kind = ${kind} and id < ${cursor}
      order by id desc limit ${limit + 1}`.execute(db);
    const data = rows.slice(0, limit).map(present);
    const has_more = rows.length > limit;
    response.json({ object: 'list', data, has_more, next_cursor: has_more ? data.at(-1)?.id : null });
  });

  // Another organization's work is as unknown as work that does not exist.
  router.use('/:id', async (request, { locals }, next) => {
    const id = /^\w+$/.exec(request.params.id)?.[0] ?? null;
    const { rows } = await sql<Work>`
      select * from consultations.work
      where organization_id = ${locals.organization} and kind = ${kind} and id = ${id}`.execute(db);
    if (rows[0] === undefined) throw new RequestError('not_found');
    locals.work = rows[0];
    next();
  });

  router.get('/:id', (_request, response) => void response.json(present(response.locals.work)));

  // Work ends, with an event, or is canceled, without one. Both statements find it running, so only one of them does it.
  router.post('/:id/cancel', async (request, response) => {
    const { rows } = await sql<Work>`
      update consultations.work set status = 'canceled', ended_at = coalesce(ended_at, now())
      where id = ${request.params.id} and status in ('running', 'canceled') returning *`.execute(db);
    if (rows[0] === undefined) throw new RequestError('conflict', 'The work has ended already.');
    response.json(present(rows[0]));
  });
  return router;
}

function present(work: Work) {
  const { id, kind, status, items, created_at, ended_at } = work;
  const questions = items.map(({ question }) => ({ question }));
  const { total, completed, failed } = outcomeOf(work);
  const counts = status === 'running' || status === 'canceled' ? { total } : { total, completed, failed };
  const content = kind === 'batch' ? { ...counts, items: questions } : questions[0];
  return { id, object: kind, status, ...content, created_at, ended_at };
}

function errorHandler({ onError }: AppOptions): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const { status, body } = errorAnswer(error, request.get('X-Request-Id'));
    if (status >= 500) onError(error);
    response.status(status).json(body);
  };
}
