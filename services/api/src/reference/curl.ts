import { type ListedOperation, textOf } from './open-api.ts';

export function curlLine(operation: ListedOperation): string {
  const body = exampleBody(operation);
  const parts = [
    // Without -N, curl buffers the stream.
    ...(isStream(operation) ? ['-N'] : []),
    ...(operation.method === 'GET' || (operation.method === 'POST' && body !== undefined)
      ? []
      : [`-X ${operation.method}`]),
    '-H "Authorization: Bearer $API_KEY"',
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
    `"$API${examplePath(operation)}"`,
  ];
  const line = `curl ${parts.join(' ')}`;
  return line.length <= 88 ? line : `curl ${parts.join(' \\\n  ')}`;
}

function isStream({ responses }: ListedOperation): boolean {
  return Object.values(responses).some(
    (answer) => 'content' in answer && 'text/event-stream' in (answer.content ?? {}),
  );
}

export function exampleBody({ requestBody }: ListedOperation): unknown {
  const [media] = Object.values(requestBody?.content ?? {});
  return media?.example;
}

function examplePath({ path, parameters }: ListedOperation): string {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return inPath.reduce((filled, { name, example }) => filled.replace(`{${name}}`, textOf(example)), path);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
