import type { z } from 'zod';
import { type Route, statuses } from '../http/routing/define-route.ts';
import { notModified } from '../http/routing/etag.ts';
import { errorCodesOf, isIdempotent } from './error-codes.ts';
import { parametersOf } from './parameters.ts';
import { type ErrorResponses, headersOf } from './responses.ts';
import type { Direction, Schemas } from './schemas.ts';
import type { Json, JsonObject, Listener } from './types.ts';

export interface OperationParts {
  readonly listener: Listener;
  readonly schemas: Schemas;
  readonly errors: ErrorResponses;
}

export function operationOf<Access>(route: Route<Access>, parts: OperationParts): JsonObject {
  const { operationId, tag, summary, description, caller, scope, body } = route;
  const { listener, schemas } = parts;
  const parameters = parametersOf(route, listener, schemas);
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, callerOf({ caller, scope })].filter((text) => text !== undefined).join('\n\n'),
    security: caller === 'anyone' ? [] : [{ [schemeOf(listener)]: [] }],
    ...(scope !== null && { 'x-required-scope': scope }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': mediaTypeOf(body, 'input', route, schemas) },
      },
    }),
    responses: { ...successOf(route, parts), ...errorsOf(route, parts) },
  };
}

/** The description and `x-required-scope` name the scope: linters accept only OAuth scopes in `security`. */
function callerOf({ caller, scope }: Pick<Route<never>, 'caller' | 'scope'>): string {
  if (caller === 'anyone') return 'Needs no key.';
  if (caller === 'any_key') return 'Needs a key, with any scope.';
  if (caller === 'producer') return 'Needs INTERNAL_API_SECRET or INTERNAL_EVENTS_SECRET.';
  return scope === null ? 'Needs INTERNAL_API_SECRET.' : `Scope: \`${scope}\`.`;
}

function schemeOf(listener: Listener): string {
  return listener === 'public' ? 'apiKey' : 'internalSecret';
}

function successOf<Access>(route: Route<Access>, { listener, schemas }: OperationParts): Record<string, JsonObject> {
  const { status, success: kind, response, streams, method, etag, location, caller, isDone, doneResponse } = route;
  const facts = { listener, isAuthenticated: caller !== 'anyone', isCounted: caller !== 'any_key', etag };
  const headers = headersOf({
    ...facts,
    location: location !== undefined,
    idempotent: isIdempotent(route),
    streams: streams !== undefined,
  });
  const success = {
    description: successTexts[kind],
    headers,
    ...(response !== undefined && {
      content: { 'application/json': mediaTypeOf(response, 'output', route, schemas) },
    }),
    ...(streams !== undefined && { content: { [streams]: { schema: { type: 'string' } } } }),
  };
  const unchanged = { description: 'There is no newer version.', headers: headersOf(facts) };
  const done = {
    ...success,
    description: successTexts.done,
    ...(doneResponse !== undefined && {
      content: { 'application/json': mediaTypeOf(doneResponse, 'output', route, schemas) },
    }),
  };
  return {
    ...(isDone && { [statuses.done]: done }),
    [status]: success,
    ...(method === 'GET' && etag && { [notModified]: unchanged }),
  };
}

const successTexts = { done: 'Done.', created: 'Created.', accepted: 'Accepted.', empty: 'Done; there is no body.' };

function errorsOf<Access>(route: Route<Access>, { listener, errors }: OperationParts): Record<string, JsonObject> {
  return errors.of(errorCodesOf(route, listener), { listener, isAuthenticated: route.caller !== 'anyone' });
}

function mediaTypeOf(
  schema: z.ZodType,
  direction: Direction,
  { method, path }: Pick<Route<never>, 'method' | 'path'>,
  schemas: Schemas,
): JsonObject {
  const place = `${method} ${path}, ${direction === 'input' ? 'body' : 'response'}`;
  const { $ref } = schemas.of(schema, direction);
  if (typeof $ref !== 'string') throw new Error(`${place}: give its schema a name, by \`id\` in its meta.`);
  const example = exampleOf(schemas, $ref);
  if (example === undefined) throw new Error(`${place}: give its schema an example, by \`examples\` in its meta.`);
  return { schema: { $ref }, example };
}

function exampleOf({ named }: Schemas, ref: string): Json | undefined {
  const examples = named.get(ref.slice(ref.lastIndexOf('/') + 1))?.examples;
  return Array.isArray(examples) ? (examples[0] as Json) : undefined;
}
