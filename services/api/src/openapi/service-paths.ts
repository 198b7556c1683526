import type { ErrorCode } from '@enterprise-api/shared/contracts';
import { authorizePath } from '../forward-authentication/route.ts';
import { statuses } from '../http/routing/define-route.ts';
import { notModified } from '../http/routing/etag.ts';
import { type ErrorResponses, headersOf } from './responses.ts';
import type { JsonObject, Listener, PathItem } from './types.ts';

export const documentPaths: Readonly<Record<Listener, string>> = {
  public: '/openapi.json',
  internal: '/internal/openapi.json',
};

/**
 * Documents paths that listeners serve without a route: probes, metrics, forward authentication and the document.
 */
export function servicePaths(listener: Listener, errors: ErrorResponses): Record<string, PathItem> {
  const open = (description: OpenOperation) => ({ get: openOperation(description, listener, errors) });
  const document = { [documentPaths[listener]]: open(documentOperation) };
  return listener === 'public'
    ? { ...document, '/healthz': open(healthOperation), '/readyz': open(readyOperation) }
    : { ...document, '/metrics': open(metricsOperation), [authorizePath]: authorizeItem(errors) };
}

/** An operation that needs neither key nor secret. */
interface OpenOperation {
  operationId: string;
  summary: string;
  description: string;
  success: { description: string; content: JsonObject };
  /** Description of the 304 response. Set only if the success has an ETag. */
  unchanged?: string;
  /** Error codes in addition to `malformed_request`. */
  codes?: readonly ErrorCode[];
}

function openOperation(
  { operationId, summary, description, success, unchanged, codes = [] }: OpenOperation,
  listener: Listener,
  errors: ErrorResponses,
): JsonObject {
  const facts = { listener, isAuthenticated: false };
  const headers = headersOf({ ...facts, etag: unchanged !== undefined });
  return {
    operationId,
    tags: ['Service'],
    summary,
    description,
    security: [],
    responses: {
      [statuses.done]: { description: success.description, headers, content: success.content },
      ...(unchanged !== undefined && { [notModified]: { description: unchanged, headers } }),
      ...errors.of(['malformed_request', ...codes], facts),
    },
  };
}

const documentOperation: OpenOperation = {
  operationId: 'getOpenApiDocument',
  summary: 'Read this document',
  description: 'Changes only with the version of the service. Needs no key.',
  success: {
    description: 'An OpenAPI document.',
    content: { 'application/json': { schema: { type: 'object' }, example: { openapi: '3.1.1' } } },
  },
  unchanged: 'There is no newer version.',
};

const healthOperation: OpenOperation = {
  operationId: 'getHealth',
  summary: 'Check that the process is alive',
  description: 'Does not check the database. Needs no key.',
  success: statusAnswer('ok'),
};

const readyOperation: OpenOperation = {
  operationId: 'getReadiness',
  summary: 'Check that the process is ready',
  description: 'Succeeds if the database answers and the process is not stopping. Needs no key.',
  success: statusAnswer('ready'),
  codes: ['service_unavailable'],
};

const metricsOperation: OpenOperation = {
  operationId: 'getMetrics',
  summary: 'Read metrics',
  description: 'The metrics of this process, for Prometheus. Needs no secret.',
  success: { description: "Prometheus' text format.", content: { 'text/plain': { schema: { type: 'string' } } } },
};

function statusAnswer(status: string): OpenOperation['success'] {
  const schema = {
    type: 'object',
    properties: { status: { type: 'string', enum: [status], description: 'The state of the process.' } },
    required: ['status'],
  };
  return { description: 'Yes.', content: { 'application/json': { schema, example: { status } } } };
}

const authorizeMethods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;

function authorizeItem(errors: ErrorResponses): PathItem {
  return Object.fromEntries(authorizeMethods.map((method) => [method, authorizeOperation(method, errors)]));
}

/** An ingress gets the errors that the API would return to the client. */
const authorizeErrors: readonly ErrorCode[] = [
  'validation_failed',
  'malformed_request',
  'unauthorized',
  'ip_not_allowed',
  'plan_no_api_access',
  'forbidden_scope',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];

function authorizeOperation(method: string, errors: ErrorResponses): JsonObject {
  const facts = { listener: 'internal', isAuthenticated: true } as const;
  return {
    operationId: `authorize${method.charAt(0).toUpperCase()}${method.slice(1)}`,
    tags: ['Identity'],
    summary: 'Authorize a request',
    description:
      'For an ingress that forwards requests itself. It may ask with any method. A refusal has the status, headers and body that the API would return to the client; under `/scim/v2` the body has the shape of SCIM.',
    security: [{ authorizeSecret: [] }],
    parameters: [
      headerParameter('X-Forwarded-Method', 'The method of the request.', 'GET'),
      headerParameter('X-Forwarded-Uri', 'Its path and query.', '/v1/me'),
      headerParameter(
        'X-Forwarded-For',
        "The client's address. The API believes it only from API_TRUSTED_PROXIES.",
        '203.0.113.7',
      ),
      headerParameter('X-Original-Method', "nginx's name for `X-Forwarded-Method`.", 'GET'),
      headerParameter('X-Original-URI', "nginx's name for `X-Forwarded-Uri`.", '/v1/me'),
      headerParameter(
        'X-Required-Scope',
        'The scope for a path that is not under `/v1` or `/scim/v2`.',
        'webhooks:read',
      ),
      headerParameter('X-Authorize-Repeat', '`1`: the request was just judged, and is not counted again.', '1'),
    ],
    responses: {
      [statuses.done]: {
        description: 'The request may pass. The headers identify the caller; there is no body.',
        headers: { ...headersOf(facts), ...identityHeaders },
      },
      ...errors.of(authorizeErrors, facts),
    },
  };
}

function headerParameter(name: string, description: string, example: string): JsonObject {
  return { name, in: 'header', description, schema: { type: 'string' }, example };
}

const text = { schema: { type: 'string' } };

const identityHeaders: JsonObject = {
  'X-Organization-Id': text,
  'X-Organization-Plan': text,
  'X-Api-Key-Id': text,
  'X-Api-Key-Scopes': text,
  'X-Identity-Token': { ...text, description: 'A JWT that verifies the others, when signing keys are configured.' },
  traceparent: { ...text, description: 'The trace of the request, if spans are recorded.' },
};
