import { textSchema } from '@enterprise-api/shared/contracts';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import express, { type ErrorRequestHandler, type Express, type Router } from 'express';
import { type Kysely, sql } from 'kysely';
import { ZodError, z } from 'zod';
import { outcomeOf, type Work } from './work.ts';

export interface AppOptions {
  db: Kysely<unknown>;
  /** Whose request this is; undefined when it did not come through the API. */
  organizationOf: (identityToken: string, area: string) => Promise<string | undefined>;
  /** How long work takes. */
  workMs: number;
  onError: (error: unknown) => void;
}

const item = z.strictObject({ question: textSchema.min(1).max(2_000), fail: z.boolean().default(false) });
const batch = z.strictObject({ items: z.array(item).min(1).max(100) });
const cursor = z.string().regex(/^[\w~]+$/);
const page = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20), cursor: cursor.default('~') });
const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

export function createApp(options: AppOptions): Express {
  const app = express().disable('x-powered-by');
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.use(
    '/v1/consultations',
    workRoutes('consultation', (body) => [item.parse(body)], options),
  );
  app.use(
    '/v1/batches',
    workRoutes('batch', (body) => batch.parse(body).items, options),
  );
  app.use(() => fail(404, 'not_found', 'There is no such path.'));
  return app.use(errorHandler(options.onError));
}

function workRoutes(
  kind: Work['kind'],
  read: (body: unknown) => Work['items'],
  { db, ...options }: AppOptions,
): Router {
  const [area, prefix] = kind === 'batch' ? ['batches', 'bat'] : ['consultations', 'con'];
  const router = express.Router();

  router.use(
    async (request, { locals }, next) => {
      locals.organization = await options.organizationOf(request.get('X-Identity-Token') ?? '', area);
      if (locals.organization === undefined) fail(401, 'unauthorized', 'The request did not come through the API.');
      next();
    },
    express.json({ limit: '64kb' }),
  );

  // The same Idempotency-Key with the same body finds the work that the first request began, as it is now.
  router.post('/', async (request, response) => {
    const items = read(request.body);
    const { organization } = response.locals;
    const key = idempotencyKey.optional().parse(request.get('Idempotency-Key'));
    const begun = await sql<Work>`
      insert into consultations.work (id, organization_id, kind, items, idempotency_key, request_id, ends_at)
      values (${toPublicId(prefix, newUuid())}, ${organization}, ${kind}, ${JSON.stringify(items)}, ${key},
              ${request.get('X-Request-Id')}, now() + make_interval(secs => ${options.workMs / 1_000}))
      on conflict (organization_id, idempotency_key) do nothing returning *`.execute(db);
    const known = sql<Work>`
      select * from consultations.work where organization_id = ${organization} and idempotency_key = ${key}`;
    const work = begun.rows[0] ?? (await known.execute(db)).rows[0];
    if (work?.kind !== kind || JSON.stringify(work.items) !== JSON.stringify(items)) {
      return fail(422, 'idempotency_key_reused', 'This Idempotency-Key came before, with another request.');
    }
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
    const [data, has_more] = [rows.slice(0, limit), rows.length > limit];
    response.json({
      object: 'list',
      data: data.map(present),
      has_more,
      next_cursor: has_more ? data.at(-1)?.id : null,
    });
  });

  // Another organization's work is as unknown as work that does not exist.
  router.use('/:id', async (request, { locals }, next) => {
    const id = /^\w+$/.exec(request.params.id)?.[0] ?? null;
    const { rows } = await sql<Work>`
      select * from consultations.work
      where organization_id = ${locals.organization} and kind = ${kind} and id = ${id}`.execute(db);
    locals.work = rows[0] ?? fail(404, 'not_found', 'There is no such resource.');
    next();
  });

  router.get('/:id', (_request, response) => void response.json(present(response.locals.work)));

  // Work ends, with an event, or is canceled, without one. Both statements find it running, so only one of them does it.
  router.post('/:id/cancel', async (request, response) => {
    const { rows } = await sql<Work>`
      update consultations.work set status = 'canceled', ended_at = coalesce(ended_at, now())
      where id = ${request.params.id} and status in ('running', 'canceled') returning *`.execute(db);
    response.json(present(rows[0] ?? fail(409, 'conflict', 'The work has ended already.')));
  });
  return router;
}

function present(work: Work): object {
  const { id, kind, status, items, created_at, ended_at } = work;
  const questions = items.map(({ question }) => ({ question }));
  const { total, completed, failed } = outcomeOf(work);
  const counts = status === 'running' || status === 'canceled' ? { total } : { total, completed, failed };
  const content = kind === 'batch' ? { ...counts, items: questions } : questions[0];
  return { id, object: kind, status, ...content, created_at, ended_at };
}

interface Problem {
  status: number;
  code: string;
  message: string;
}

function fail(status: number, code: string, message: string): never {
  throw Object.assign(new Error(message), { status, code });
}

/** The API passes our bodies on: errors have its shape and its codes, and no text of a library. */
function errorHandler(onError: AppOptions['onError']): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const { status, code, message } = problemOf(error);
    if (status >= 500) onError(error);
    const type = status >= 500 ? 'api_error' : status === 401 ? 'authentication_error' : 'invalid_request_error';
    response.status(status).json({ error: { type, code, message, request_id: request.get('X-Request-Id') ?? null } });
  };
}

/** Ours have a status and a code, those of Express a status only. */
function problemOf(error: Partial<Problem>): Problem {
  if (error instanceof ZodError) return { status: 400, code: 'validation_failed', message: z.prettifyError(error) };
  const { status = 500, code, message = '' } = error;
  if (status !== 500 && code !== undefined) return { status, code, message };
  return ofExpress[status] ?? { status: 500, code: 'internal_error', message: 'The request failed.' };
}

const ofExpress: Record<number, Problem> = {
  400: { status: 400, code: 'validation_failed', message: 'The path or the body cannot be read.' },
  413: { status: 413, code: 'payload_too_large', message: 'A body has at most 64 KiB.' },
  415: { status: 415, code: 'unsupported_media_type', message: 'A body is JSON in UTF-8.' },
};
