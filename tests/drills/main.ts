import { startRedis } from '@enterprise-api/testkit';
import type { Finding } from '../faults/finding.ts';
import { restoreToPoint } from './restore.ts';
import { restoreSizes } from './sizes.ts';

/** What an operator practises, by name. Each starts stores of its own and leaves nothing behind. */
const drills: Readonly<Record<string, () => Promise<Finding>>> = {
  restore: () => restoreToPoint(restoreSizes.full, startRedis),
};

/** `make drill ARGS=restore`: 0 if all that was promised held. */
async function main(args: readonly string[]): Promise<number> {
  const [name = ''] = args;
  const drill = drills[name];
  if (drill === undefined) throw new Error(`Which drill? ARGS=${Object.keys(drills).join(', ARGS=')}`);
  process.stdout.write('Emitting under load, then destroying and restoring everything. This takes some minutes.\n');
  const { figures, broken } = await drill();
  for (const [what, value] of Object.entries(figures)) process.stdout.write(`  ${what}: ${value}\n`);
  for (const problem of broken) process.stdout.write(`  NOT KEPT: ${problem}\n`);
  process.stdout.write(broken.length === 0 ? 'Nothing from before the restore point is lost.\n' : '');
  return broken.length === 0 ? 0 : 1;
}

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
