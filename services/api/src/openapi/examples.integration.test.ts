import { exampleId } from '@enterprise-api/shared/contracts';
import {
  checkAnswer,
  type DocumentedOperation,
  type DocumentName,
  openApiDocument,
} from '@enterprise-api/testkit/openapi';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRouteCases, type RouteCases } from '../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let cases: RouteCases;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_TRUSTED_PROXIES: '127.0.0.1' } });
  cases = createRouteCases(api);
});
afterAll(() => api.stop());

const documentOf = ({ path }: ListedRoute): DocumentName =>
  path.startsWith('/internal/') ? 'internal-openapi' : 'openapi';

function operationOf(route: ListedRoute): DocumentedOperation {
  const operation = openApiDocument(documentOf(route)).paths[route.path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route.method} ${route.path} is not in its document`);
  return operation;
}

/** The request that an operation's examples make, with ids of objects that exist in place of the examples' ids. */
async function requestOf({ parameters = [], requestBody }: DocumentedOperation) {
  const known = parameters.filter(({ example }) => example !== undefined);
  const named = (place: string): Record<string, string> =>
    Object.fromEntries(known.filter((one) => one.in === place).map((one) => [one.name, String(one.example)]));
  const example = requestBody?.content['application/json']?.example;
  const body = example === undefined ? undefined : JSON.stringify(example);
  const organizationId = await cases.organizationId();
  const webhookId = await cases.webhookId();
  const withKnownIds = (text: string) =>
    text.replaceAll(exampleId('org'), organizationId).replaceAll(exampleId('whk'), webhookId);
  return {
    query: withKnownIds(new URLSearchParams(named('query')).toString()),
    headers: named('header'),
    body: body === undefined ? undefined : withKnownIds(body),
    fresh: true,
  };
}

describe('the examples of every operation', () => {
  // A stream has no end; its own tests read it.
  const routes = everyRoute().filter(({ path }) => !path.endsWith('/stream'));

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is a success that the document describes',
    async (_name, route) => {
      const request = await requestOf(operationOf(route));
      const answer = await cases.callWith(route, request);
      expect(`${answer.status} ${answer.text}`).toMatch(new RegExp(`^${route.status} `));
      checkAnswer(documentOf(route), {
        ...answer,
        method: route.method,
        target: route.path,
        hasBody: request.body !== undefined,
      });
    },
  );
});
