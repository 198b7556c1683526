/** The request of a delivery. */
export interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const made = new Set(['webhook-timestamp', 'webhook-signature', 'x-service-signature', 'content-length', 'host']);

/**
 * A bash program that sends the same bytes again, signed anew with `$WEBHOOK_SECRET`. A here-document whose end is quoted
 * carries the body, so that bash reads nothing in it.
 */
export function curlOf({ url, headers, body }: SentRequest): string {
  const end = endFor(body);
  const id = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-id')?.[1] ?? '';
  const kept = Object.entries(headers).filter(([name]) => !made.has(name.toLowerCase()));
  return [
    '# bash; WEBHOOK_SECRET holds the whole secret: whsec_…',
    `IFS= read -r -d '' body <<'${end}' || true`,
    body,
    end,
    `body=\${body%$'\\n'}`,
    'sign() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(printf %s "$1" | od -An -v -tx1 | tr -d \' \\n\')" -binary; }',
    'decoded() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(printf %s "$1" | base64 -d | od -An -v -tx1 | tr -d \' \\n\')" -binary; }',
    'now=$(date +%s)',
    `hex=$(printf %s "$body" | sign "$WEBHOOK_SECRET" | od -An -v -tx1 | tr -d ' \\n')`,
    `standard=$(printf '%s.%s.%s' ${quoted(id)} "$now" "$body" | decoded "\${WEBHOOK_SECRET#whsec_}" | base64)`,
    `printf %s "$body" | curl --globoff --path-as-is --request POST --url ${quoted(url)} \\`,
    ...kept.map(([name, value]) => `  --header ${quoted(`${name}: ${value}`)} \\`),
    '  --header "X-Service-Signature: $hex" \\',
    '  --header "webhook-timestamp: $now" \\',
    '  --header "webhook-signature: v1,$standard" \\',
    '  --data-binary @-',
    '',
  ].join('\n');
}

/** A line that the body does not contain. */
function endFor(body: string): string {
  let end = 'BODY';
  while (body.split('\n').includes(end)) end += '_';
  return end;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

type Values = string | number | readonly (string | number)[] | null | undefined;

/** A command with each of its options that has a value. `options` maps the name of a value to its option. */
export function commandOf(command: string, options: Record<string, string>, read: (name: string) => Values): string {
  const given = Object.entries(options).flatMap(([name, option]) => {
    const text = [read(name) ?? []].flat().join(',');
    return text === '' ? [] : [` --${option} ${shellWord(text)}`];
  });
  return command + given.join('');
}

/**
 * One word of a command line. It may come from the page's address, which a stranger may have chosen. A terminal obeys
 * control characters even in quotes, so the word spells them out.
 */
export function shellWord(text: string): string {
  if (/^[\w.,:*-]+$/.test(text)) return text;
  const escapeOne = (character: string) => encodeURIComponent(character).replaceAll('%', '\\x');
  const escaped = text.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, escapeOne);
  return /\p{Cc}/u.test(text) ? `$'${escaped}'` : quoted(text);
}
