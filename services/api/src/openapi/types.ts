/** JSON, as far as an OpenAPI document is made of it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** The two listeners have a document each. */
export type Listener = 'public' | 'internal';

/** The methods of a path in OpenAPI. */
export type PathItem = Readonly<Record<string, JsonObject>>;

/** A reference to a named part of the document. */
export function reference(kind: 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
