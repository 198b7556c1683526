/** The parts of our OpenAPI 3.1 document that the reference shows. */
export interface OpenApiDocument {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<(typeof httpMethods)[number], Operation>>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

const httpMethods = ['get', 'post', 'put', 'patch', 'delete'] as const;

export type OrReference<Thing> = Thing | { readonly $ref: string };

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly 'x-required-scope'?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly OrReference<Parameter>[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, OrReference<Answer>>>;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema; readonly example?: unknown }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
  readonly example?: unknown;
}

export interface Answer {
  readonly description: string;
  readonly 'x-error-codes'?: readonly string[];
  readonly headers?: Readonly<Record<string, OrReference<{ readonly description?: string }>>>;
  readonly content?: Content;
}

/** The parts of JSON Schema 2020-12 that the reference shows. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ListedOperation extends Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly tag: string;
}

export function operationsOf(document: OpenApiDocument): ListedOperation[] {
  const order = (document.tags ?? []).map(({ name }) => name);
  const placeOf = ({ tag }: ListedOperation) => order.indexOf(tag);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    httpMethods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = (operation.parameters ?? []).map((some) => resolved(document, some));
      return [{ ...operation, method: method.toUpperCase(), path, parameters, tag: operation.tags?.[0] ?? 'Other' }];
    }),
  );
  return operations.sort((left, right) => placeOf(left) - placeOf(right));
}

export function needsKey({ security = [] }: Operation): boolean {
  return security.length > 0;
}

export function resolved<Thing extends object>(document: OpenApiDocument, thing: OrReference<Thing>): Thing {
  if (!('$ref' in thing) || typeof thing.$ref !== 'string') return thing as Thing;
  const found = thing.$ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
  if (found === undefined) throw new Error(`The OpenAPI document has nothing at ${thing.$ref}.`);
  return resolved(document, found as OrReference<Thing>);
}

export function schemaNameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Writes a value as JSON, but text without quotes. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
