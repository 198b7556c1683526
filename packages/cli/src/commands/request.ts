import { ApiError, type ApiResponse } from '@enterprise-api/sdk';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { durationMs, each, textOf } from '../input/values.ts';
import { manyLines, oneLine } from '../output/text.ts';
import { readable } from '../present/format.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

interface RequestOptions {
  data?: string;
  header?: string[];
  include?: boolean;
  repeat?: boolean;
  idempotencyKey?: string;
  timeout?: number;
}

export const addRequestCommand: CommandModule = (program, open) => {
  program
    .command('request')
    .description('send any request with the key and print the answer')
    .argument('<method>', 'GET, POST, PUT, PATCH, DELETE or HEAD')
    .argument('<path>', 'such as /v1/consultations?limit=5')
    .option('-d, --data <text>', 'the body: text, @file, or - for standard input')
    .option('-H, --header <name: value>', 'a header; repeat the option for more', each)
    .option('-i, --include', 'also print the status and headers of the answer')
    .option('--idempotency-key <key>', 'send this Idempotency-Key')
    .option('--repeat', 'send an Idempotency-Key and retry if the answer is lost; the service must honour it')
    .option('--timeout <duration>', 'how long to wait for the answer (default: 30s)', durationMs)
    .action(action<RequestOptions>(open, sendRequest));
};

async function sendRequest(context: Context, options: RequestOptions, method: string, path = ''): Promise<void> {
  const api = openApi(context);
  const { data, include, repeat, idempotencyKey, timeout } = options;
  const rawBody = data === undefined ? undefined : await textOf(data, context.io);
  const headers = {
    ...(rawBody !== undefined && { 'content-type': 'application/json' }),
    ...headersOf(options.header),
  };
  try {
    const answer = await api.request(method.toUpperCase(), path, {
      headers,
      rawBody,
      idempotencyKey,
      ownerHonoursIdempotencyKey: repeat,
      timeoutMs: timeout,
      signal: context.io.signal,
    });
    printAnswer(context, answer, include);
  } catch (error) {
    // The user asked for this answer, so print it at any status. The exit code and the message show the refusal.
    if (error instanceof ApiError) {
      const { status, headers, body } = error;
      printAnswer(context, { status, headers, rawBody: Buffer.from(textOfBody(body)) }, include);
    }
    throw error;
  }
}

function printAnswer(
  { printer }: Context,
  { status, headers, rawBody }: Pick<ApiResponse<unknown>, 'status' | 'headers' | 'rawBody'>,
  include = false,
): void {
  if (include) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    printer.raw(`${[`HTTP ${status}`, ...lines].map(oneLine).join('\n')}\n\n`);
  }
  if (rawBody.length === 0) return;
  if (!printer.isTerminal) return printer.raw(rawBody);
  const text = manyLines(readable(Buffer.from(rawBody).toString('utf8')));
  printer.raw(text.endsWith('\n') ? text : `${text}\n`);
}

const textOfBody = (body: unknown) =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);

function headersOf(given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map((header) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(header) ?? [];
      if (name !== undefined && value !== undefined) return [name.toLowerCase(), value.trim()];
      throw new Failure('usage', `"${header}" is not a header.`, "It looks like 'Accept: text/csv'.");
    }),
  );
}
