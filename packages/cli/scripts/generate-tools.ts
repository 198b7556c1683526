import { readFileSync, writeFileSync } from 'node:fs';

/** A tool, and the operation that it calls. */
interface Choice {
  operation: string;
  /** The first words of its text, if the operation's own would mislead. */
  text?: string;
  /** Parameters, and fields of the body, that the agent may not give. */
  without?: readonly string[];
  /** Fields of the body that the tool gives. */
  given?: Record<string, unknown>;
  /** The answer's status, where an operation has more than one. */
  status?: string;
}

const reading: Record<string, Choice> = {
  me_get: { operation: 'getMe' },
  webhooks_list: { operation: 'listWebhooks' },
  webhook_get: { operation: 'getWebhook' },
  webhook_health: { operation: 'getWebhookHealth' },
  event_explain: { operation: 'explainEvent' },
  event_get: { operation: 'getEvent' },
  // With a search, an agent that sees no data could guess it.
  events_list: { operation: 'listEvents', without: ['q'] },
  event_types_list: { operation: 'listEventTypes' },
  deliveries_list: { operation: 'listDeliveries' },
  delivery_get: { operation: 'getDelivery' },
  statistics_get: { operation: 'getWebhookStatistics' },
  signature_verify: { operation: 'verifySignature' },
  usage_get: { operation: 'getUsage' },
};

const writing: Record<string, Choice> = {
  webhook_update: { operation: 'updateWebhook', without: ['headers'] },
  webhook_pause: { operation: 'pauseWebhook' },
  webhook_resume: { operation: 'resumeWebhook' },
  webhook_test: { operation: 'testWebhook' },
  delivery_retry: { operation: 'retryDelivery' },
  replay_preview: {
    operation: 'replayWebhook',
    text: 'Say what a replay would send, and send nothing',
    without: ['dry_run'],
    given: { dry_run: true },
    status: '200',
  },
  replay_create: { operation: 'replayWebhook', without: ['dry_run'], status: '202' },
  replay_cancel: { operation: 'cancelReplay' },
};

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  required?: string[];
}
type Parameter =
  | { $ref: string }
  | { name: string; in: string; required?: boolean; description?: string; schema: Schema };
type Content = { content?: { 'application/json': { schema: Schema } } };
interface Operation extends Record<string, unknown> {
  operationId: string;
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

const source = new URL('../../../docs/openapi.json', import.meta.url);
const target = new URL('../src/generated/mcp-tools.ts', import.meta.url);
const document: {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
} = JSON.parse(readFileSync(source, 'utf8'));

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

function toolOf(name: string, choice: Choice, isWriting: boolean) {
  const found = operations.find(({ operation }) => operation.operationId === choice.operation);
  if (found === undefined) throw new Error(`${name}: the document has no operation ${choice.operation}.`);
  const { path, method, operation } = found;
  const { summary, description, responses } = operation;
  const text = description.replace(/\s*Scope: `[a-z:]+`\.$/, '').replaceAll('\n', ' ');
  const status = choice.status ?? Object.keys(responses).find((each) => each.startsWith('2')) ?? '';
  return {
    name,
    description: [`${choice.text ?? summary}.`, text].join(' ').trim(),
    isWriting,
    method,
    path,
    given: choice.given ?? {},
    input: inputOf(operation, choice.without ?? []),
    output: shapeOf(responses[status]?.content?.['application/json'].schema ?? {}),
  };
}

/** One object with the parameters of path and query, and the fields of the body. */
function inputOf({ parameters = [], requestBody }: Operation, without: readonly string[]) {
  const given = parameters.flatMap((each) => ('name' in each && each.in !== 'header' ? [each] : []));
  const own = given.filter(({ name }) => !without.includes(name));
  const body = resolved(requestBody?.content?.['application/json'].schema ?? {});
  const fields = Object.entries(body.properties ?? {}).filter(([name]) => !without.includes(name));
  const properties = {
    ...Object.fromEntries(own.map(({ name, description, schema }) => [name, { description, ...inlined(schema) }])),
    ...Object.fromEntries(fields.map(([name, schema]) => [name, inlined(schema)])),
  };
  // An agent reads every item, so its pages are shorter than the API's.
  if (properties.limit !== undefined) Object.assign(properties.limit, { maximum: 50 });
  const required = [...own.flatMap((each) => (each.required ? [each.name] : [])), ...(body.required ?? [])];
  return { type: 'object', properties, required, additionalProperties: false };
}

const resolved = ({ $ref, ...own }: Schema): Schema =>
  $ref === undefined ? own : { ...resolved(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}), ...own };

function inlined(schema: Schema): Schema {
  const { example: _example, examples: _examples, ...kept } = resolved(schema) as Schema & Record<string, unknown>;
  return { ...kept, ...(kept.items && { items: inlined(kept.items) }) };
}

/** Names and types alone: agents read every tool's schema, and a later API may add values. */
function shapeOf(schema: Schema): Schema {
  const { type, items, anyOf, properties } = resolved(schema);
  if (anyOf !== undefined) {
    const types = anyOf.map((each) => resolved(each).type).flatMap((each) => each ?? []);
    return types.includes('object') ? {} : { type: [...new Set(types)] };
  }
  if (items !== undefined) return { ...(type && { type }), items: shapeOf(items) };
  if (properties === undefined) return type === undefined ? {} : { type };
  const fields = Object.entries(properties).filter(([name]) => name !== 'headers' && name !== 'secret');
  return {
    type: type ?? 'object',
    properties: Object.fromEntries(fields.map(([name, each]) => [name, shapeOf(each)])),
  };
}

const tools = [
  ...Object.entries(reading).map(([name, choice]) => toolOf(name, choice, false)),
  ...Object.entries(writing).map(([name, choice]) => toolOf(name, choice, true)),
];
const text = `// Made from docs/openapi.json by \`npm run openapi\`. Not to be changed by hand.

import type { Tool } from '../mcp/tool.ts';

export const tools: readonly Tool[] = ${JSON.stringify(tools, null, 1)};
`;

if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error(`${target.pathname} is not what docs/openapi.json says. Run \`npm run openapi\`.`);
  process.exitCode = 1;
}
