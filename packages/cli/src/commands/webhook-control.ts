import type { Command } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { readHeaders } from '../input/headers.ts';
import { bytesOf, instantAhead, wholeNumber } from '../input/values.ts';
import { webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

const maxRate = 1_000;

export interface ControlOptions {
  rateLimit?: number | null;
  maxInFlight?: number | null;
  autoRecover?: boolean;
  headers?: string;
}

const numberOrNone = (max: number) => (value: string) => (value === 'none' ? null : wholeNumber(1, max)(value));

export const withControls = (command: Command): Command =>
  command
    .option('--rate-limit <number>', 'attempts per second, or none', numberOrNone(maxRate))
    .option('--max-in-flight <number>', 'attempts at a time, or none', numberOrNone(50))
    .option('--auto-recover', 'if it is disabled as failing, test it hourly for a week, and enable it after a success')
    .option('--no-auto-recover', 'leave it disabled')
    .option('--headers <path>', 'a file with headers for a gateway, as JSON or one per line; - for standard input');

export const controlsOf = async (
  { rateLimit, maxInFlight, autoRecover, headers }: ControlOptions,
  { io }: Context,
) => ({
  ...(rateLimit !== undefined && { rate_limit_per_second: rateLimit }),
  ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
  ...(autoRecover !== undefined && { auto_recover: autoRecover }),
  ...(headers !== undefined && {
    headers: readHeaders((await bytesOf(headers, io)).toString('utf8')) as Record<string, string>,
  }),
});

interface PauseOptions {
  until?: string;
  reason?: string;
}

export function addControl(webhooks: Command, open: (options: GlobalOptions) => Context): void {
  webhooks
    .command('pause')
    .description('send only tests for a while; deliveries wait and spend no attempt')
    .argument('<id>', 'whk_…')
    .option(
      '--until <time>',
      'when it resumes, at most 7d ahead; or from now, such as 2h (default: 24h)',
      instantAhead(),
    )
    .option('--reason <text>', 'why, for people')
    .action(
      action<PauseOptions>(open, async (context, { until, reason }, id) => {
        const body = { ...(until !== undefined && { resume_at: until }), ...(reason !== undefined && { reason }) };
        const webhook = await openApi(context).webhooks.pause(id, body, { signal: context.io.signal });
        context.printer.object(webhook, webhookFields(webhook));
      }),
    );
  webhooks
    .command('resume')
    .description('end a pause')
    .argument('<id>', 'whk_…')
    .option('--rate <number>', 'attempts per second until the waiting deliveries are sent', wholeNumber(1, maxRate))
    .action(
      action<{ rate?: number }>(open, async (context, { rate }, id) => {
        const body = rate === undefined ? {} : { rate_per_second: rate };
        const webhook = await openApi(context).webhooks.resume(id, body, { signal: context.io.signal });
        context.printer.object(webhook, webhookFields(webhook));
      }),
    );
}
