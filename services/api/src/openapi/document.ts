import { type ErrorCode, errorBodySchema, errorCatalogue } from '@enterprise-api/shared/contracts';
import { version } from '@enterprise-api/shared/runtime';
import type { Route } from '../http/routing/define-route.ts';
import { areaOperations } from './areas.ts';
import { introductions, securitySchemes } from './introduction.ts';
import { operationOf } from './operation.ts';
import { parameterComponents } from './parameters.ts';
import { createErrorResponses, errorExamples, headerComponents } from './responses.ts';
import { createSchemas } from './schemas.ts';
import { servicePaths } from './service-paths.ts';
import { tagDescriptions } from './tags.ts';
import type { Json, JsonObject, Listener, PathItem } from './types.ts';
import { webhookEntries } from './webhooks.ts';

/** @throws if a route's schema has no name or no example */
export function createDocument<Access>(listener: Listener, routes: readonly Route<Access>[]): JsonObject {
  const schemas = createSchemas();
  const errors = createErrorResponses(schemas.of(errorBodySchema, 'output'));
  const paths = joined([
    routePaths(routes, (route) => operationOf(route, { listener, schemas, errors })),
    servicePaths(listener, errors),
  ]);
  const webhooks = listener === 'public' ? webhookEntries(schemas) : {};
  const components = {
    securitySchemes: securitySchemes[listener],
    schemas: Object.fromEntries(schemas.named),
    responses: Object.fromEntries(errors.named),
    parameters: parameterComponents,
    headers: headerComponents,
    examples: errorExamples(Object.keys(errorCatalogue) as ErrorCode[]),
  };
  const body = { paths, ...(listener === 'public' && { webhooks }) } as unknown as JsonObject;
  return {
    openapi: '3.1.1',
    info: {
      title: listener === 'public' ? 'Enterprise API' : 'Enterprise API, internal listener',
      version,
      summary: introductions[listener].summary,
      description: introductions[listener].description,
      contact: { name: 'The maintainers of Enterprise API' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The listener that serves this document.' }],
    tags: usedTags(paths),
    ...(listener === 'public' && { 'x-areas': areaOperations() }),
    ...body,
    components: onlyUsed(components as unknown as Components, body),
  };
}

function routePaths<Access>(
  routes: readonly Route<Access>[],
  describe: (route: Route<Access>) => JsonObject,
): Record<string, PathItem> {
  return joined(routes.map((route) => ({ [route.path]: { [route.method.toLowerCase()]: describe(route) } })));
}

/** Sorts paths alphabetically and merges their operations. The first description of an operation wins. */
function joined(parts: readonly Record<string, PathItem>[]): Record<string, PathItem> {
  const found: Record<string, PathItem> = {};
  for (const part of parts) {
    for (const [path, item] of Object.entries(part)) found[path] = { ...item, ...found[path] };
  }
  return sorted(found);
}

function usedTags(paths: Record<string, PathItem>): JsonObject[] {
  const used = new Set(Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)));
  return Object.entries(tagDescriptions)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

type Components = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/**
 * Keeps the components that the document references, directly or indirectly. Keeps all security schemes, because no
 * `$ref` names them.
 */
function onlyUsed(components: Components, root: Json): JsonObject {
  const used = new Set<string>();
  const pending: Json[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [, ref = ''] of JSON.stringify(next).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
      if (used.has(ref)) continue;
      used.add(ref);
      const [kind = '', name = ''] = ref.split('/');
      pending.push(components[kind]?.[name] ?? {});
    }
  }
  const kept = Object.entries(components).map(([kind, all]) => {
    const some = Object.entries(all).filter(([name]) => kind === 'securitySchemes' || used.has(`${kind}/${name}`));
    return [kind, sorted(Object.fromEntries(some))] as const;
  });
  return Object.fromEntries(kept.filter(([, all]) => Object.keys(all).length > 0));
}

function sorted<Value>(values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).sort(([left], [right]) => (left < right ? -1 : 1)));
}
