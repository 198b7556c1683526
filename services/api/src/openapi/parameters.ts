import { exampleId, type IdPrefix } from '@enterprise-api/shared/contracts';
import type { z } from 'zod';
import type { Route } from '../http/routing/define-route.ts';
import { isIdempotent } from './error-codes.ts';
import type { Schemas } from './schemas.ts';
import { type Json, type JsonObject, type Listener, reference } from './types.ts';

export const parameterComponents: Readonly<Record<string, JsonObject>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes the request safe to repeat for 24 hours: the same key and body get the stored answer.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    example: 'order-1724',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: '`ETag` of the version that the change is meant for; 412 when there is a newer one.',
    schema: { type: 'string' },
    example: '*',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: '`ETag` of the version that the client has; 304 when there is no newer one.',
    schema: { type: 'string' },
    example: '"0"',
  },
  Actor: {
    name: 'X-Actor',
    in: 'header',
    description: 'On whose behalf the caller acts; `on_behalf_of` in the audit log.',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
    example: 'support@example.com',
  },
};

type Described = Pick<Route<never>, 'method' | 'caller' | 'ids' | 'query' | 'ifMatch' | 'etag' | 'audited'>;

export function parametersOf(route: Described, listener: Listener, schemas: Schemas): JsonObject[] {
  const { method, caller, ids, query, ifMatch, etag, audited } = route;
  const readsActor = listener === 'internal' && caller !== 'anyone' && (method !== 'GET' || audited === true);
  const headers = [
    ...(isIdempotent(route) ? ['IdempotencyKey'] : []),
    ...(ifMatch ? ['IfMatch'] : []),
    ...(etag && method === 'GET' ? ['IfNoneMatch'] : []),
    ...(readsActor ? ['Actor'] : []),
  ];
  return [
    ...Object.entries(ids).map(([name, prefix]) => idParameter(name, prefix)),
    ...(query === undefined ? [] : queryParameters(query, schemas)),
    ...headers.map((name) => reference('parameters', name)),
  ];
}

function idParameter(name: string, prefix: IdPrefix): JsonObject {
  const schema = { type: 'string', pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` };
  return { name, in: 'path', required: true, schema, example: exampleId(prefix) };
}

function queryParameters(query: z.ZodType, schemas: Schemas): JsonObject[] {
  const { properties = {}, required = [] } = schemas.of(query, 'input') as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, examples, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...(required.includes(name) && { required: true }),
    schema,
    ...(Array.isArray(examples) && { example: examples[0] as Json }),
  }));
}
