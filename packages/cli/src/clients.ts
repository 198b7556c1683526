import { EnterpriseApi } from '@enterprise-api/sdk';
import type { Context } from './context.ts';
import { resolveAccess } from './settings/settings.ts';
import { userAgent } from './version.ts';

/** A client with the API key of the environment or the profile. */
export function openApi({ io, options, profiles }: Context): EnterpriseApi {
  const { url, secret } = resolveAccess('api', options, io.env, profiles);
  return new EnterpriseApi({ baseUrl: url, apiKey: secret, userAgent });
}
