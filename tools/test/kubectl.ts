import { findKubectl } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have the program that builds the manifests of deploy/kubernetes. */
export type KubectlSource = { kind: 'program' } | { kind: 'none'; problem: string; advice: string };

const advice = 'Install kubectl (Debian: sudo apt-get install kubernetes-client; macOS: brew install kubernetes-cli).';

/** A kubectl on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findKubectlProgram(options: SearchOptions): Promise<KubectlSource> {
  if (findKubectl() !== undefined) return { kind: 'program' };
  const problem = await installPackages(['kubernetes-client'], options);
  return findKubectl() === undefined ? { kind: 'none', problem, advice } : { kind: 'program' };
}
