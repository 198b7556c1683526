import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { program } from './command-line.ts';

interface ToolAnswer {
  /** The answer as the agent reads it. */
  text: string;
  structure: Record<string, unknown> | undefined;
  isError: boolean;
  /** Of text and structure together. */
  bytes: number;
}

/** A coding agent that started `enterprise-api mcp` and speaks the protocol with its own client. */
export interface Agent extends AsyncDisposable {
  client: Client;
  pid: number;
  /** Calls a tool. The client refuses a structure that does not fit the tool's schema. */
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>;
  /** Closes the connection. @returns what the program printed to standard error */
  close(): Promise<string>;
}

export async function startAgent(
  access: { url: string; key: string },
  args: readonly string[] = [],
  version = '2026-07-28',
): Promise<Agent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...args],
    env: { ENTERPRISE_API_URL: access.url, ENTERPRISE_API_KEY: access.key, HOME: '/nonexistent' },
    stderr: 'pipe',
  });
  const stderr = text(transport.stderr as Readable);
  const mode = version === '2025-11-25' ? 'legacy' : { pin: version };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  await client.listTools();
  const close = async () => {
    await client.close();
    return await stderr;
  };
  return {
    client,
    pid: transport.pid ?? 0,
    call: async (name, args = {}) => {
      const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args });
      const [first] = content as { text: string }[];
      return {
        text: first?.text ?? '',
        structure: structuredContent as ToolAnswer['structure'],
        isError,
        bytes: Buffer.byteLength(JSON.stringify({ content, structuredContent })),
      };
    },
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
