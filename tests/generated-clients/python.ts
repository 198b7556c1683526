import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import type { Generator } from './describe-walk.ts';

const documents = { public_client: 'openapi.json', internal_client: 'internal-openapi.json' };

export function openapiPythonClient(python: string): Generator {
  return {
    name: 'openapi-python-client',
    generate: async (run) => {
      let warnings = '';
      for (const [name, document] of Object.entries(documents)) {
        const where = ['--path', join(projectFolder, 'docs', document), '--meta', 'none', '--output-path', name];
        const args = ['-m', 'openapi_python_client', 'generate', ...where, '--fail-on-warning'];
        warnings += (await run(python, args)).stderr;
      }
      return warnings;
    },
    walk: async (run, folder) => {
      await copyFile(join(import.meta.dirname, 'walk.py'), join(folder, 'walk.py'));
      return run(python, ['-B', 'walk.py']);
    },
  };
}
