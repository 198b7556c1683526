import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

/**
 * A command: writes the types of the client from docs/openapi.json. With `--check` it writes nothing, and fails when what
 * it would write is not what is there. `npm run openapi` runs it after it has written the document.
 */
const source = new URL('../../../docs/openapi.json', import.meta.url);
const target = new URL('../src/generated/openapi.ts', import.meta.url);

/** The operations whose queries the client takes. All other shapes are schemas with a name. */
const queried = ['getUsage', 'listDeliveries', 'listEvents', 'listWebhooks'];

interface Operation {
  operationId?: string;
  parameters?: { in?: string }[];
}

interface Document {
  openapi: string;
  info: object;
  paths: Record<string, { get?: Operation }>;
  components: { schemas: object };
}

async function generate(): Promise<string> {
  const document: Document = JSON.parse(readFileSync(source, 'utf8'));
  const nodes = await openapiTS(JSON.stringify(reduced(document)), { silent: true, defaultNonNullable: false });
  return `// Made from docs/openapi.json by \`npm run openapi\`. Not to be changed by hand.\n\n${astToString(nodes)}`;
}

/** The named schemas, and the queries; the areas' paths, headers and answers would only make the types long. */
function reduced({ openapi, info, paths, components }: Document): object {
  const kept = Object.entries(paths).flatMap(([path, { get }]) => {
    if (get?.operationId === undefined || !queried.includes(get.operationId)) return [];
    const parameters = get.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
    return [[path, { get: { operationId: get.operationId, parameters, responses: {} } }] as const];
  });
  return {
    openapi,
    info,
    paths: Object.fromEntries(kept),
    components: { schemas: withoutExamples(components.schemas, true) },
  };
}

/**
 * Examples are in the document; repeated in comments they would be most of the types.
 *
 * @param named whether the keys are names of schemas or of fields, of which one may be `example`
 */
function withoutExamples(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutExamples(each));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => named || (key !== 'example' && key !== 'examples'));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutExamples(each, !named && key === 'properties')]));
}

async function main(onlyCheck: boolean): Promise<void> {
  const text = await generate();
  if (!onlyCheck) writeFileSync(target, text);
  else if (readFileSync(target, 'utf8') !== text) {
    console.error('packages/sdk/src/generated/openapi.ts is not what docs/openapi.json says. Run `npm run openapi`.');
    process.exitCode = 1;
  }
}

await main(process.argv.includes('--check'));
