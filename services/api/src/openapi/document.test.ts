import { readFileSync } from 'node:fs';
import { areaCatalogue, type ErrorCode, eventTypeNames, exampleId, meSchema } from '@enterprise-api/shared/contracts';
import { deliveryHeaders } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { z } from 'zod';
import { defineRoute } from '../http/routing/define-route.ts';
import { everyRoute, type ListedRoute } from '../testing/route-list.ts';
import { undescribed } from '../testing/undescribed.ts';
import { createDocument } from './document.ts';
import type { JsonObject } from './types.ts';

interface Readable {
  'x-areas': { area: string; method: string; path: string; scope: string }[];
  paths: Record<string, Record<string, ReadableOperation>>;
  webhooks: Record<string, Record<string, ReadableOperation>>;
  components: Record<string, Record<string, JsonObject & { 'x-error-codes'?: ErrorCode[] }>>;
}
interface ReadableOperation {
  operationId: string;
  security: Record<string, string[]>[];
  'x-required-scope'?: string;
  parameters?: { name?: string; $ref?: string }[];
  responses: Record<string, { $ref?: string }>;
}

const isInternal = ({ path }: ListedRoute) => path.startsWith('/internal/');
const documentOf = (listener: 'public' | 'internal') =>
  createDocument(
    listener,
    everyRoute().filter((route) => isInternal(route) === (listener === 'internal')) as never,
  ) as unknown as Readable;
const documents = { public: documentOf('public'), internal: documentOf('internal') };

/** The codes that an operation can be answered with. */
function codesOf({ components }: Readable, { responses }: ReadableOperation): string[] {
  const refs = Object.values(responses).flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []);
  return refs.flatMap((name) => components.responses?.[name]?.['x-error-codes'] ?? []);
}

describe('a document', () => {
  it.each(everyRoute().map((route) => [`${route.method} ${route.path}`, route] as const))(
    'has the operation %s with its id, scope and errors',
    (_name, route) => {
      const document = documents[isInternal(route) ? 'internal' : 'public'];
      const operation = document.paths[route.path]?.[route.method.toLowerCase()] as ReadableOperation;
      expect(operation).toMatchObject({ operationId: route.operationId, tags: [route.tag], summary: route.summary });
      expect(operation['x-required-scope'] ?? null).toBe(route.scope);
      expect(operation.security.length).toBe(route.caller === 'anyone' ? 0 : 1);
      expect(codesOf(document, operation)).toEqual(expect.arrayContaining([...route.errors]));
    },
  );

  it('lists the operations of every area with their scopes, and describes no path that other services answer', () => {
    const listed = documents.public['x-areas'];
    for (const [area, { path, below, scopes, exception }] of Object.entries(areaCatalogue)) {
      for (const [method, scope] of Object.entries(scopes)) {
        for (const each of below ? [path, `${path}/{path}`] : [path])
          expect(listed).toContainEqual({ area, method, path: each, scope });
      }
      if (exception === undefined) continue;
      const { method, path: exact, scope } = exception;
      expect(listed).toContainEqual({ area, method, path: exact, scope });
    }
    const forwarded = new Set(listed.map(({ path }) => path));
    expect(Object.keys(documents.public.paths).filter((path) => forwarded.has(path))).toEqual(['/v1/usage']);
  });

  it('derives the errors of a route from what is checked of it', () => {
    const { paths } = documents.public;
    expect(codesOf(documents.public, paths['/v1/webhooks/{id}']?.put as ReadableOperation).sort()).toEqual(
      [
        'unauthorized',
        'ip_not_allowed',
        'plan_no_api_access',
        'rate_limited',
        'forbidden_scope',
        'unsupported_media_type',
        'payload_too_large',
        'invalid_json',
        'validation_failed',
        'malformed_request',
        'url_not_allowed',
        'not_found',
        'precondition_failed',
        'request_timeout',
        'internal_error',
        'service_unavailable',
      ].sort(),
    );
    const list = codesOf(documents.public, paths['/v1/webhooks']?.get as ReadableOperation);
    expect(list).toContain('invalid_cursor');
    expect(list).not.toContain('unsupported_media_type');
    const create = codesOf(documents.public, paths['/v1/webhooks']?.post as ReadableOperation);
    expect(create).toEqual(expect.arrayContaining(['idempotency_in_progress', 'idempotency_key_reused']));
  });

  it('has an entry for each type of event, with every header of a delivery but those that describe the body', () => {
    expect(Object.keys(documents.public.webhooks)).toEqual(eventTypeNames);
    const sent = deliveryHeaders({
      productVersion: '1',
      eventId: exampleId('evt'),
      eventType: 'batch.failed',
      deliveryId: exampleId('dlv'),
      attempt: 1,
      test: true,
      contentLength: 1,
      timestampSeconds: 1,
    });
    const expected = [...Object.keys(sent), 'X-Service-Signature', 'webhook-signature'];
    const described = documents.public.webhooks['batch.failed']?.post?.parameters?.map(({ name }) => name);
    expect(described?.sort()).toEqual(expected.filter((name) => !name.startsWith('Content-')).sort());
  });

  it.each(['public', 'internal'] as const)(
    'of the %s listener describes every property of every schema',
    (listener) => {
      const undescribedProperties: string[] = [];
      const visit = (value: unknown, place: string, namesProperties: boolean) => {
        if (typeof value !== 'object' || value === null) return;
        for (const [name, part] of Object.entries(value)) {
          if (namesProperties && typeof part.description !== 'string') undescribedProperties.push(`${place}.${name}`);
          if (namesProperties || !/^examples?$/.test(name)) {
            visit(part, `${place}.${name}`, !namesProperties && name === 'properties');
          }
        }
      };
      visit(documents[listener], '', false);
      expect(undescribedProperties).toEqual([]);
    },
  );

  it.each(['public', 'internal'] as const)('of the %s listener has examples that satisfy their schemas', (listener) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema(documents[listener], 'document');
    const wrong: string[] = [];
    const visit = (value: unknown, place: string) => {
      if (typeof value !== 'object' || value === null) return;
      const { schema, example } = value as { schema?: object; example?: unknown };
      if (schema !== undefined && example !== undefined && !place.includes('/properties')) {
        const pointer = place.split('/').map(encodeURIComponent).join('/');
        const validate = ajv.compile({ $ref: `document#${pointer}/schema` });
        if (!validate(example)) wrong.push(`${place}: ${ajv.errorsText(validate.errors)}`);
      }
      for (const [name, part] of Object.entries(value)) {
        visit(part, `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      }
    };
    visit(documents[listener], '');
    expect(wrong).toEqual([]);
  });

  it('is the one in docs/', () => {
    for (const [listener, file] of [
      ['public', 'openapi.json'],
      ['internal', 'internal-openapi.json'],
    ] as const) {
      const text = readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), 'utf8');
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(documents[listener])));
    }
  });
});

describe('a route that cannot be described is refused', () => {
  const route = (more: object) =>
    defineRoute({
      ...undescribed,
      endpoint: 'GET /v1/x',
      scope: 'me:read',
      response: meSchema,
      handle: () => ({}) as never,
      ...more,
    });
  const described = (...routes: ReturnType<typeof route>[]) => createDocument('public', routes as never);

  it('because its schema has no name', () => {
    const response = z.strictObject({ a: z.string() });
    expect(() => described(route({ response }))).toThrow('GET /v1/x, response: give its schema a name');
  });

  it('because its schema has no example', () => {
    const response = z.strictObject({ a: z.string() }).meta({ id: 'NoExample' });
    expect(() => described(route({ response }))).toThrow('GET /v1/x, response: give its schema an example');
  });

  it('because JSON Schema cannot express what it reads', () => {
    const response = z.strictObject({ a: z.custom() }).meta({ id: 'Inexpressible', examples: [{ a: 1 }] });
    expect(() => described(route({ response }))).toThrow('a schema of type "custom" needs `jsonSchema`');
  });
});
