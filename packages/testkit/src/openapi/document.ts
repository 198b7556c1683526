import { readFileSync } from 'node:fs';

/** An OpenAPI document, as far as the checks of answers read it. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly responses: Readonly<Record<string, DocumentedResponse>> };
}

export type PathItem = Readonly<Record<string, DocumentedOperation>>;

export interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, DocumentedResponse | { readonly $ref: string }>>;
}

export interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
  readonly 'x-error-codes'?: readonly string[];
}

/** The two documents that the repository has: of the public listener and of the internal one. */
export type DocumentName = 'openapi' | 'internal-openapi';

const read = new Map<DocumentName, OpenApiDocument>();

/** Reads docs/openapi.json or docs/internal-openapi.json, once. */
export function openApiDocument(name: DocumentName): OpenApiDocument {
  const known = read.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`../../../../docs/${name}.json`, import.meta.url), 'utf8');
  const document: OpenApiDocument = JSON.parse(text);
  read.set(name, document);
  return document;
}

/** An operation, and where it stands in its document. */
export interface FoundOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: DocumentedOperation;
}

/**
 * Finds the operation of a request. Literal segments win over parameters; `{path}`, the last segment of an area, stands
 * for all that follow. HEAD finds GET.
 *
 * @param path percent-decoded, without a query
 */
export function findOperation(document: OpenApiDocument, method: string, path: string): FoundOperation | undefined {
  const wanted = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  const candidates = Object.keys(document.paths).filter((template) => matches(template, path));
  const [best] = candidates.sort((left, right) => parametersBefore(left) - parametersBefore(right));
  const operation = best === undefined ? undefined : document.paths[best]?.[wanted];
  return best === undefined || operation === undefined ? undefined : { path: best, method: wanted, operation };
}

function matches(template: string, path: string): boolean {
  const pattern = template
    .split('/')
    .map((segment) => {
      if (segment === '{path}') return '.+';
      return segment.startsWith('{') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${pattern}$`).test(path);
}

/** Orders templates: the later its first parameter, the more exact it is. */
function parametersBefore(template: string): number {
  const first = template.split('/').findIndex((segment) => segment.startsWith('{'));
  return first === -1 ? 0 : 1 / first;
}
