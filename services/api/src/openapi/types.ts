export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Each listener has its own document. */
export type Listener = 'public' | 'internal';

export type PathItem = Readonly<Record<string, JsonObject>>;

export function reference(kind: 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}
