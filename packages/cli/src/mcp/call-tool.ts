import type { EnterpriseApi } from '@enterprise-api/sdk';
import { Failure } from '../failure.ts';
import { type Answer, answerOf } from './answer.ts';
import type { Tool } from './tool.ts';

export interface CallOptions {
  showBodies: boolean;
  signal: AbortSignal;
}

/** Calls a tool's operation with arguments that fit the tool's schema. */
export async function callTool(
  api: EnterpriseApi,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { showBodies, signal }: CallOptions,
): Promise<Answer> {
  // The agent has read the URL without its query. Written back, it would lead elsewhere.
  if (String(args.url).endsWith('?…')) {
    throw new Failure('usage', 'The query of this URL is hidden.', 'Leave `url` out, or give all of it.');
  }
  const value = await send(api, tool, args, signal);
  const answer = answerOf(value, showBodies);
  const [length, shown] = [value, answer.structuredContent].map(({ data }) => (Array.isArray(data) ? data.length : 0));
  if (!hasPages(tool) || shown === undefined || shown === length) return answer;
  // The cursor of the cut page would pass over items, so a shorter page is read.
  return callTool(api, tool, { ...args, limit: shown }, { showBodies, signal });
}

const hasPages = ({ input }: Tool) => 'limit' in (input.properties as object);

async function send(
  api: EnterpriseApi,
  { method, path, given }: Tool,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const rest = { ...args, ...given };
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: id } = args;
    delete rest[name];
    return encodeURIComponent(String(id));
  });
  const { body } = await api.request(method, target, {
    ...(method === 'GET' ? { query: rest as Record<string, string> } : Object.keys(rest).length > 0 && { body: rest }),
    ownerHonoursIdempotencyKey: true,
    signal,
  });
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new Failure('failure', 'The answer is not an object.', 'Is this the address of the API?');
}
