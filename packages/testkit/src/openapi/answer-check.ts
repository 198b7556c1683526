import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import {
  type DocumentedResponse,
  type DocumentName,
  type FoundOperation,
  findOperation,
  type OpenApiDocument,
  openApiDocument,
} from './document.ts';

/** A request and its answer, as far as the document speaks of them. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Whether the request had a body. */
  readonly hasBody: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Holds a real answer against the document of its listener: its status, its error code, its headers and its body.
 * Requests that the document does not describe are left alone: unknown paths and methods, bodies of a GET, bytes that are
 * not HTTP. So are answers of the services that own areas.
 *
 * @throws with everything that is wrong
 */
export function checkAnswer(name: DocumentName, exchange: Exchange): void {
  const document = openApiDocument(name);
  const found = findOperation(document, exchange.method, pathOf(exchange.target));
  if (found === undefined || isLeftAlone(exchange, found)) return;
  const wrong = wrongsOf(name, document, found, exchange);
  if (wrong.length === 0) return;
  const { method, target, status, text } = exchange;
  throw new Error(
    `docs/${name}.json does not describe this answer to ${method} ${target} (${found.operation.operationId}):\n` +
      `${wrong.map((one) => `- ${one}`).join('\n')}\n${status} ${text.slice(0, 2_000)}`,
  );
}

/** Percent-decoded where the API decodes: in its areas. Other paths are served as they are written. */
function pathOf(target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  if (!/^\/(?:v1|scim)\//.test(path)) return path;
  return URL.canParse(`http://host${path}`) ? safelyDecoded(path) : path;
}

function safelyDecoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isLeftAlone({ method, hasBody, status, headers, text }: Exchange, { operation }: FoundOperation): boolean {
  const readsNoBody = method === 'GET' || method === 'HEAD';
  if (status === 431 || (readsNoBody && hasBody && status >= 400)) return true;
  return '2XX' in operation.responses && !isOurError(headers, text);
}

/** Our errors repeat `X-Request-Id` in their body, or have SCIM's shape. */
function isOurError(headers: Exchange['headers'], text: string): boolean {
  return text.includes(`"request_id":"${String(headers['x-request-id'])}"`);
}

function wrongsOf(name: DocumentName, document: OpenApiDocument, found: FoundOperation, exchange: Exchange): string[] {
  const { status, headers, text, method } = exchange;
  const response = responseOf(document, found, status);
  if (response === undefined) return [`status ${status} is not among its responses`];
  const missing = missingHeaders(response, exchange).map((header) => `the header ${header} is missing`);
  const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const described = Object.keys(response.content ?? {});
  if (method === 'HEAD') return missing;
  if (described.length === 0) return text === '' ? missing : [...missing, 'it has a body'];
  if (!described.includes(type)) return [...missing, `its type "${type}" is not ${described.join(' or ')}`];
  return [...missing, ...bodyWrongs(name, found, response, type, exchange)];
}

function responseOf(
  { components }: OpenApiDocument,
  { operation }: FoundOperation,
  status: number,
): DocumentedResponse | undefined {
  const response = operation.responses[status];
  if (response === undefined || !('$ref' in response)) return response;
  return components.responses[response.$ref.slice(response.$ref.lastIndexOf('/') + 1)];
}

/** Headers of a success that only some of its answers have. */
const occasional = new Set(['Idempotent-Replayed', 'X-Identity-Token']);

/** Of a success, every header must be there; a refusal may come before what they tell is known. */
function missingHeaders({ headers: described = {} }: DocumentedResponse, { status, headers }: Exchange): string[] {
  const always = ['X-Request-Id', ...([429, 503].includes(status) ? ['Retry-After'] : [])];
  const wanted = status < 400 ? Object.keys(described).filter((header) => !occasional.has(header)) : always;
  return wanted.filter((header) => headers[header.toLowerCase()] === undefined);
}

function bodyWrongs(
  name: DocumentName,
  { path, method }: FoundOperation,
  response: DocumentedResponse,
  type: string,
  { status, text }: Exchange,
): string[] {
  if (!type.endsWith('json')) return [];
  const body: unknown = JSON.parse(text);
  const place = `/paths/${escaped(path)}/${method}/responses/${status}`;
  const validate = validatorOf(name, place, response, type);
  const wrong = validate(body) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
  const codes = response['x-error-codes'];
  const code = (body as { error?: { code?: string } }).error?.code;
  const isUnknown = codes !== undefined && code !== undefined && !codes.includes(code);
  return isUnknown ? [...wrong, `the code ${code} is not among ${codes.join(', ')}`] : wrong;
}

const validators = new Map<string, ValidateFunction>();
const compilers = new Map<DocumentName, Ajv2020>();

function validatorOf(name: DocumentName, place: string, response: DocumentedResponse, type: string): ValidateFunction {
  const schema = response.content?.[type]?.schema;
  const isNamed = typeof schema === 'object' && schema !== null && '$ref' in schema;
  const target = isNamed ? String(schema.$ref) : `#${place}/content/${escaped(type)}/schema`;
  const key = `${name}${target}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  const made = compilerOf(name).compile({ $ref: `${name}${target}` });
  validators.set(key, made);
  return made;
}

function compilerOf(name: DocumentName): Ajv2020 {
  const known = compilers.get(name);
  if (known !== undefined) return known;
  // make check lints the document, which is no schema itself.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(openApiDocument(name), name);
  compilers.set(name, ajv);
  return ajv;
}

/** A name as a JSON pointer has it. */
function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
