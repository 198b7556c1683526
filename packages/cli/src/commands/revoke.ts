import { EnterpriseApi } from '@enterprise-api/sdk';
import { Failure } from '../failure.ts';
import { confirm } from '../input/ask.ts';
import { resolveAccess } from '../settings/settings.ts';
import { userAgent } from '../version.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

/** The beginning of a key, which is no secret. */
const prefixLength = 'nwk_'.length + 8;

export const addRevokeCommand: CommandModule = (program, open) => {
  program
    .command('revoke')
    .description('revoke the key in use, for example after a leak; takes effect everywhere within a second')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      action<{ yes?: boolean }>(open, async ({ io, options, printer, profiles }, { yes }) => {
        const { url, secret } = resolveAccess('api', options, io.env, profiles);
        const prefix = secret.slice(0, prefixLength);
        if (!yes && !io.stdin.isTTY) throw new Failure('usage', 'Revoking needs a confirmation.', 'Add --yes.');
        if (!yes && !(await confirm(io, `Revoke the key ${prefix}… of ${url}? It cannot be undone.`)))
          throw new Failure('usage', 'Nothing was revoked.');
        await new EnterpriseApi({ baseUrl: url, apiKey: secret, userAgent }).me.revokeKey({ signal: io.signal });
        if (printer.isJson) printer.record({ key_prefix: prefix, object: 'api_key', deleted: true }, () => '');
        printer.text(`Revoked ${prefix}….`);
      }),
    );
};
