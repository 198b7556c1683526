import type { IngressName } from '@enterprise-api/testkit';
import { replaceBehindIngress } from '../ingress/replacement.ts';
import type { Finding } from './finding.ts';

/** R7: the processes of the API are replaced while requests for other services come through an ingress. */
export async function replaceApisBehindIngress(name: IngressName, requests: number): Promise<Finding> {
  const { sent, failures, repeated, missing, exitCodes } = await replaceBehindIngress(name, requests);
  const checks = {
    [`${failures.length} requests failed, the first: ${failures[0]}`]: failures.length === 0,
    [`${missing} requests did not reach the service`]: missing === 0,
    [`${repeated} requests reached it twice`]: repeated === 0,
    [`exits ${exitCodes.join()}`]: exitCodes.length === 2 && exitCodes.every((code) => code === 0),
  };
  return {
    lost: missing,
    duplicates: repeated,
    figures: { requests: sent, 'processes replaced': exitCodes.length },
    broken: Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : [what])),
  };
}
