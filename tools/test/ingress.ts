import { findIngress, ingressNames } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have the HTTP servers that they put in front of the API. */
export type IngressSource = { kind: 'programs' } | { kind: 'none'; problem: string; advice: string };

const advice =
  'Install nginx and caddy (Debian, Ubuntu: sudo apt-get install nginx caddy; macOS: brew install nginx caddy); ' +
  'their services need not run.';

/** nginx and Caddy on the PATH; else installed with apt-get, when permitted; else advice. */
export async function findIngresses(options: SearchOptions): Promise<IngressSource> {
  const missing = missingIngresses();
  if (missing.length === 0) return { kind: 'programs' };
  const problem = await installPackages(missing, options);
  return missingIngresses().length === 0 ? { kind: 'programs' } : { kind: 'none', problem, advice };
}

function missingIngresses(): string[] {
  return ingressNames.filter((name) => findIngress(name) === undefined);
}
