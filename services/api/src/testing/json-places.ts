export type Place = readonly (string | number)[];

/** Every place in a JSON value: the value itself, its fields, its items, theirs. */
export function placesOf(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  const entries = Object.entries(value).map(([name, child]): [string | number, unknown] => [
    Array.isArray(value) ? Number(name) : name,
    child,
  ]);
  return [place, ...entries.flatMap(([name, child]) => placesOf(child, [...place, name]))];
}

const mark = 'the place of the text';

/** The JSON text of a value with another text, which need not be JSON, in one place. */
export function withTextAt(value: unknown, place: Place, text: string): string {
  const marked = JSON.stringify(replaceAt(value, place));
  return marked.split(JSON.stringify(mark)).join(text);
}

/** The JSON text of a value with something written into the object at a place, behind its opening brace. */
export function withTextInside(value: unknown, place: Place, text: string): string {
  const object = place.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], value);
  const inside = JSON.stringify(object).replace('{', `{${text}${Object.keys(object as object).length > 0 ? ',' : ''}`);
  return withTextAt(value, place, inside);
}

function replaceAt(value: unknown, [name, ...rest]: Place): unknown {
  if (name === undefined) return mark;
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? replaceAt(item, rest) : item));
  const object = value as Record<string, unknown>;
  return { ...object, [name]: replaceAt(object[name], rest) };
}
