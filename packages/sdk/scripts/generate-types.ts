import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

/** Types that are made of a document. */
interface Generated {
  /** The document, in docs/. */
  source: string;
  target: URL;
  /** The operations whose queries are taken. All other shapes are schemas with a name. */
  queried: readonly string[];
}

/**
 * A command: writes the types of the client and of the command line's internal commands. With `--check` it writes nothing,
 * and fails when what it would write is not what is there. `npm run openapi` runs it after it has written the documents.
 */
const generated: readonly Generated[] = [
  {
    source: 'openapi.json',
    target: new URL('../src/generated/openapi.ts', import.meta.url),
    queried: [
      'explainEvent',
      'getUsage',
      'getWebhookStatistics',
      'listConsoleSessions',
      'listDeliveries',
      'listEvents',
      'listOwnErasures',
      'listReplays',
      'listWebhookHealth',
      'listWebhooks',
    ],
  },
  {
    source: 'internal-openapi.json',
    target: new URL('../../cli/src/generated/internal-openapi.ts', import.meta.url),
    queried: [],
  },
];

const documents = new URL('../../../docs/', import.meta.url);

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

async function generate({ source, queried }: Generated): Promise<string> {
  const document: Document = JSON.parse(readFileSync(new URL(source, documents), 'utf8'));
  const nodes = await openapiTS(JSON.stringify(reduced(document, queried)), {
    silent: true,
    defaultNonNullable: false,
  });
  return `// Made from docs/${source} by \`npm run openapi\`. Not to be changed by hand.\n\n${astToString(nodes)}`;
}

/** The named schemas, and the queries; the areas' paths, headers and answers would only make the types long. */
function reduced({ openapi, info, paths, components }: Document, queried: readonly string[]): object {
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
  for (const each of generated) {
    const text = await generate(each);
    if (!onlyCheck) writeFileSync(each.target, text);
    else if (readFileSync(each.target, 'utf8') !== text) {
      console.error(`${each.target.pathname} is not what docs/${each.source} says. Run \`npm run openapi\`.`);
      process.exitCode = 1;
    }
  }
}

await main(process.argv.includes('--check'));
