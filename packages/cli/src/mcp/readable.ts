const secretFields = new Set(['secret', 'headers']);
const bodyFields = new Set(['body', 'data', 'remote_address', 'response_body', 'response_headers']);

// An agent may obey characters that its user cannot see. JSON escapes line breaks and tabs by itself.
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const secrets = /(whsec_|nwk_)[\w+/=]{20,}/g;
const urlQueries = /(\bhttps?:\/\/[^\s?#"'<>]*)\?[^\s"'<>]*/gi;

/** Copies an answer of the API without the fields that an agent must not read, and without invisible characters. */
export function readable(value: unknown, showBodies: boolean, parent = ''): unknown {
  if (typeof value === 'string') return textOf(value, showBodies);
  if (Array.isArray(value)) return value.map((each) => readable(each, showBodies, '[]'));
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.entries(value).filter(([name, each]) => {
    if (secretFields.has(name)) return false;
    if (showBodies || !bodyFields.has(name)) return true;
    // A list of the API has its items in `data`, a JSON Schema names its fields in `properties`.
    return (parent === '' && Array.isArray(each)) || parent === 'properties';
  });
  return Object.fromEntries(shown.map(([name, each]) => [textOf(name, showBodies), readable(each, showBodies, name)]));
}

function textOf(text: string, showBodies: boolean): string {
  const safe = text.replace(invisible, escaped).replace(secrets, '$1…');
  return showBodies ? safe : safe.replace(urlQueries, '$1?…');
}

function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
    '',
  );
}
