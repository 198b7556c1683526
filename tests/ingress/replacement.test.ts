import { ingressNames } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { replaceBehindIngress } from './replacement.ts';

/** Uses nginx and Caddy by `openIngressStage()`. The fault campaign sends 10,000 requests (run R7-ingress). */
describe.each(ingressNames)('%s before two processes of the API', (name) => {
  it('loses no request while both are replaced by SIGTERM, and sends none twice', async () => {
    const { sent, ...found } = await replaceBehindIngress(name, 2_000);
    expect(found).toEqual({ failures: [], repeated: 0, missing: 0, exitCodes: [0, 0] });
    expect(sent).toBeGreaterThanOrEqual(2_000);
  });
});
