import { EnterpriseApi } from '@enterprise-api/sdk';
import type { Context } from './context.ts';
import { resolveAccess } from './settings/settings.ts';
import { userAgent } from './version.ts';

/** The API with the key of the environment or of the profile. */
export function openApi({ io, options, profiles }: Context): EnterpriseApi {
  const { url, secret } = resolveAccess('api', options, io.env, profiles);
  return new EnterpriseApi({ baseUrl: url, apiKey: secret, userAgent });
}
