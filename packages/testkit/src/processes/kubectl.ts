import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';

const execute = promisify(execFile);

/** The path of kubectl on this machine. */
export function findKubectl(): string | undefined {
  return findProgram(['kubectl'], process.env.PATH);
}

/**
 * What `kubectl apply -k` of a folder would send to a cluster, as YAML documents.
 *
 * @throws with the output of kubectl when it cannot build the folder, or is not installed
 */
export async function buildKustomization(folder: string): Promise<string> {
  const program = findKubectl();
  if (program === undefined) throw new Error('This test builds manifests: install kubectl.');
  const { stdout } = await execute(program, ['kustomize', folder], { maxBuffer: 16 * 1_024 * 1_024 });
  return stdout;
}
