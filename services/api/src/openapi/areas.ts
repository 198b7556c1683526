import {
  type Area,
  type AreaException,
  areaCatalogue,
  areaNames,
  type RequiredScope,
} from '@enterprise-api/shared/contracts';
import { z } from 'zod';
import { areaErrorCodes } from './error-codes.ts';
import { callerOf, schemeOf } from './operation.ts';
import { type ErrorResponses, headersOf } from './responses.ts';
import type { JsonObject, PathItem } from './types.ts';

/** `own` has the API's error shape, `scim` has SCIM's. */
export interface AreaErrors {
  readonly own: ErrorResponses;
  readonly scim: ErrorResponses;
}

export function areaPaths(errors: AreaErrors): Record<string, PathItem> {
  return Object.assign({}, ...areaNames.map((area) => pathsOf(area, errors)));
}

function pathsOf(area: Area, errors: AreaErrors): Record<string, PathItem> {
  const { path, below, scopes, exception } = areaCatalogue[area];
  const itemOf = (place: Pick<AreaOperation, 'parameters'>, suffix: string, own?: AreaException) => {
    const operations = Object.entries(scopes).flatMap(([method, scope]) => {
      // Omit HEAD: it equals GET everywhere, as the introduction says.
      if (method === 'HEAD') return [];
      const exact = own?.method === method ? { scope: own.scope, operationId: exceptionIds[area] } : undefined;
      const operationId = exact?.operationId ?? `${method.toLowerCase()}${pascal(area)}${suffix}`;
      const operation = { area, method, operationId, scope: exact?.scope ?? scope, ...place };
      return [[method.toLowerCase(), operationOf(operation, errors)] as const];
    });
    return Object.fromEntries(operations);
  };
  return {
    [path]: itemOf({ parameters: [] }, ''),
    ...(exception !== undefined && {
      [exception.path]: itemOf({ parameters: pathParameters(exception.path) }, 'Special', exception),
    }),
    ...(below && { [`${path}/{path}`]: itemOf({ parameters: [belowParameter] }, 'Below') }),
  };
}

const exceptionIds: Partial<Record<Area, string>> = { automations: 'triggerAutomation', scim: 'searchScim' };

interface AreaOperation {
  readonly area: Area;
  readonly operationId: string;
  readonly scope: RequiredScope;
  readonly method: string;
  readonly parameters: readonly JsonObject[];
}

/** Forwarded bodies have any type. The document says JSON, because client generators reject a wildcard media type. */
const anything = { 'application/json': { schema: {} } };

const passedOn =
  'Bodies of any type are passed on as they are, in both directions: their shapes are those of the service. Its own errors pass through too. Where no service is configured for the area, it is 404 `not_found`.';

function operationOf({ area, operationId, scope, method, parameters }: AreaOperation, errors: AreaErrors): JsonObject {
  const facts = { listener: 'public', isAuthenticated: true } as const;
  const ours = area === 'scim' ? errors.scim : errors.own;
  return {
    operationId,
    tags: [area === 'scim' ? 'SCIM' : pascal(area)],
    summary: `Forward ${method} to the service that owns ${area}`,
    description: `${passedOn}\n\n${callerOf({ caller: 'authenticated', scope })}`,
    security: [{ [schemeOf('public')]: [] }],
    'x-required-scope': scope,
    ...(parameters.length > 0 && { parameters }),
    ...(['POST', 'PUT', 'PATCH'].includes(method) && { requestBody: { content: anything } }),
    responses: {
      '2XX': {
        description: 'The answer of the service.',
        headers: headersOf(facts),
        content: anything,
      },
      ...ours.of(areaErrorCodes, facts),
    },
  };
}

const belowParameter = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'One segment or several: slashes between them are not encoded.',
  schema: { type: 'string' },
  example: 'an-id',
};

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: name === 'id' ? 'an-id' : 'Users',
  }));
}

function pascal(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** RFC 7644, section 3.12. */
export const scimErrorSchema = z
  .strictObject({
    schemas: z.array(z.literal('urn:ietf:params:scim:api:messages:2.0:Error')),
    status: z.string(),
    detail: z.string().describe('The code of the error, and its message.'),
  })
  .meta({
    id: 'ScimError',
    description: 'The body of an error under `/scim/v2`.',
    examples: [
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '404',
        detail: 'not_found: There is no such resource.',
      },
    ],
  });
