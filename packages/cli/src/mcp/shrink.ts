const maxItems = 50;

/**
 * Cuts lists, texts and objects until the JSON of a value has about `maxBytes`.
 *
 * @param place the name of the value
 * @param cut gets the name of every part that was cut
 */
export function shrink(value: unknown, maxBytes: number, place: string, cut: string[]): unknown {
  if (Array.isArray(value)) return shrinkList(value, maxBytes, place, cut);
  if (typeof value === 'object' && value !== null) return shrinkObject(value, maxBytes, place, cut);
  const size = sizeOf(value);
  if (typeof value !== 'string' || size <= maxBytes) return value;
  cut.push(place);
  return `${value.slice(0, Math.floor((value.length * maxBytes) / size)).toWellFormed()}…`;
}

/** Keeps the first items. Cuts the first one if it alone is too large. */
function shrinkList(list: readonly unknown[], maxBytes: number, place: string, cut: string[]): unknown[] {
  const kept: unknown[] = [];
  let left = maxBytes;
  for (const each of list.slice(0, maxItems)) {
    const size = sizeOf(each) + 1;
    if (size > left && kept.length > 0) break;
    kept.push(shrink(each, left, `${place}[${kept.length}]`, cut));
    left -= size;
  }
  if (kept.length < list.length) cut.push(`${place} (${kept.length} of ${list.length})`);
  return kept;
}

/** Divides the space among the fields. Small fields leave their unused space to larger ones. */
function shrinkObject(object: object, maxBytes: number, place: string, cut: string[]): object {
  const fields = Object.entries(object).map(([name, value]) => ({ name, value, size: sizeOf({ [name]: value }) }));
  const kept = new Map<string, unknown>();
  let left = maxBytes;
  for (const [at, { name, value, size }] of fields.toSorted((a, b) => a.size - b.size).entries()) {
    const room = Math.floor(left / (fields.length - at));
    if (size > room && room < 100) continue;
    kept.set(name, shrink(value, room - sizeOf(name), place === '' ? name : `${place}.${name}`, cut));
    left -= Math.min(size, room);
  }
  if (kept.size < fields.length) cut.push(`${place} (${kept.size} of ${fields.length} fields)`);
  return Object.fromEntries(fields.flatMap(({ name }) => (kept.has(name) ? [[name, kept.get(name)]] : [])));
}

export const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
