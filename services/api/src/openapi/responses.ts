import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, exampleId } from '@enterprise-api/shared/contracts';
import { problem, problemBody } from '../http/problem.ts';
import { type HeaderFacts, headerNamesOf } from './headers.ts';
import { type JsonObject, reference } from './types.ts';

/** Gathers the answers to refused requests: one component for each set of codes with one status. */
export interface ErrorResponses {
  /** References by status. */
  of(codes: readonly ErrorCode[], facts: Omit<HeaderFacts, 'status'>): Record<string, JsonObject>;
  readonly named: ReadonlyMap<string, JsonObject>;
}

/** How an error's body is shown. */
export interface ErrorShape {
  readonly mediaType: string;
  readonly schema: JsonObject;
  /** Begins the names of its components, so that they differ from those of another shape. */
  readonly prefix: string;
}

export function createErrorResponses({ mediaType, schema, prefix }: ErrorShape): ErrorResponses {
  const named = new Map<string, JsonObject>();
  return {
    named,
    of: (codes, facts) => {
      const byStatus = Object.groupBy(codes, (code) => errorCatalogue[code].status);
      const entries = Object.entries(byStatus).map(([status, some]) => {
        const name = prefix + (facts.isAuthenticated ? '' : 'Open') + some.map(pascal).join('Or');
        const headers = headersOf({ ...facts, status: Number(status) });
        const content = { [mediaType]: { schema, ...(prefix === '' && { examples: examplesOf(some) }) } };
        named.set(name, { description: describe(some), headers, content, 'x-error-codes': some });
        return [status, reference('responses', name)] as const;
      });
      return Object.fromEntries(entries);
    },
  };
}

/** References to the headers of an answer. */
export function headersOf(facts: HeaderFacts): JsonObject {
  return Object.fromEntries(headerNamesOf(facts).map((name) => [name, reference('headers', name)]));
}

/** An example of every error, by code. */
export function errorExamples(codes: Iterable<ErrorCode>): Record<string, JsonObject> {
  const entries = [...codes].map((code) => [code, { value: exampleOf(code) as unknown as JsonObject }] as const);
  return Object.fromEntries(entries);
}

const moreOf: Partial<Record<ErrorCode, Parameters<typeof problem>[1]>> = {
  forbidden_scope: { requiredScope: 'webhooks:write' },
  rate_limited: { retryAfterSeconds: 12 },
  validation_failed: {
    message: 'events[1]: must be one of: consultation.completed, consultation.*, *.',
    param: 'events[1]',
    details: [
      {
        location: 'body',
        path: 'events[1]',
        code: 'invalid_value',
        message: 'must be one of: consultation.completed, consultation.*, *',
      },
    ],
  },
};

function exampleOf(code: ErrorCode) {
  return problemBody(problem(code, moreOf[code]), exampleId('req'));
}

function examplesOf(codes: readonly ErrorCode[]): JsonObject {
  return Object.fromEntries(codes.map((code) => [code, reference('examples', code)]));
}

function describe(codes: readonly ErrorCode[]): string {
  const [first] = codes;
  const title = STATUS_CODES[errorCatalogue[first as ErrorCode].status];
  return `${title}.\n\n${codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].message}`).join('\n')}`;
}

/** `not_found` → `NotFound` */
function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
