import { openApi } from '../clients.ts';
import { count, orDash, time } from '../present/format.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addMeCommand: CommandModule = (program, open) => {
  program
    .command('me')
    .description('show the organization and the key in use')
    .action(
      action(open, async (context) => {
        const me = await openApi(context).me.get({ signal: context.io.signal });
        const { organization, key, rate_limit } = me;
        context.printer.object(me, [
          ['organization', `${organization.name}  ${organization.id}`],
          ['plan', organization.plan],
          ['key', `${key.name}  ${key.id}`],
          ['begins with', key.key_prefix],
          ['scopes', key.scopes.join(', ')],
          ['addresses', key.ip_allowlist === null ? 'any' : key.ip_allowlist.join(', ')],
          ['expires', key.expires_at === null ? 'never' : time(key.expires_at)],
          ['last used', orDash(time(key.last_used_at))],
          ['rate limit', `${count(rate_limit.limit)} requests in ${rate_limit.window_seconds} s`],
        ]);
      }),
    );
};
