import { type ListedOperation, textOf } from './open-api.ts';

/** A line for the shell that carries out an operation, with the variables of the guide. */
export function curlLine(operation: ListedOperation): string {
  const body = exampleBody(operation);
  const parts = [
    // Else curl gathers what comes.
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

/** The example of an operation's body; undefined where it has none. */
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
