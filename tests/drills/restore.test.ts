import { startRedis } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { restoreToPoint } from './restore.ts';
import { restoreSizes } from './sizes.ts';

it('a system that is destroyed under load comes back from its backup, up to the restore point, with an empty Redis', async () => {
  const { broken, figures } = await restoreToPoint(restoreSizes.short, startRedis);
  expect({ broken, figures }).toMatchObject({ broken: [] });
});
