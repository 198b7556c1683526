import { ConnectionError } from '@enterprise-api/sdk';
import { Failure } from '../failure.ts';
import { givenUrl, profileName } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addOpenCommand: CommandModule = (program, open) => {
  program
    .command('open')
    .description('print the address of a page of the documentation')
    .argument('[page]', 'the end of its address, such as verify or operations; the first page by default')
    .action(
      action(open, async ({ io, options, profiles, printer }, _options, page = '') => {
        const base = givenUrl('api', options, io.env) ?? profiles.read(profileName(options, io.env))?.api_url;
        if (base === undefined) {
          throw new Failure(
            'usage',
            'The address of the API is unknown.',
            'Set ENTERPRISE_API_URL, or give --api-url.',
          );
        }
        const path = page === '' ? '' : `/${page.split('/').map(encodeURIComponent).join('/')}`;
        const url = `${base.replace(/\/+$/, '')}/docs${path}`;
        if (!(await exists(url, io.signal))) {
          throw new Failure(
            'notFound',
            `There is no page ${url}.`,
            'The first page lists all others: enterprise-api open',
          );
        }
        printer.record({ object: 'page', url }, () => url);
      }),
    );
};

async function exists(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { ok } = await fetch(url, { method: 'HEAD', signal });
    return ok;
  } catch (error) {
    if (signal.aborted) throw error;
    const code = (error as { cause?: { code?: string } }).cause?.code ?? 'FETCH_FAILED';
    throw new ConnectionError(`${url} did not answer (${code}).`, code);
  }
}
