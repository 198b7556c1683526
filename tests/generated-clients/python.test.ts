import { join } from 'node:path';
import { projectFolder, requireToolchain } from '@enterprise-api/testkit';
import { describeWalk } from './describe-walk.ts';

const python = requireToolchain('openapiPythonClient');
const documents = { public_client: 'openapi.json', internal_client: 'internal-openapi.json' };

describeWalk({
  name: 'openapi-python-client',
  generate: async (run) => {
    for (const [name, document] of Object.entries(documents)) {
      const path = join(projectFolder, 'docs', document);
      const where = ['--path', path, '--meta', 'none', '--output-path', name];
      await run(python, ['-m', 'openapi_python_client', 'generate', ...where, '--fail-on-warning'], { isSilent: true });
    }
  },
  walk: (run, folder) =>
    run(python, [
      '-B',
      '-c',
      `import runpy, sys; sys.path.insert(0, ${JSON.stringify(folder)}); runpy.run_path(${JSON.stringify(join(import.meta.dirname, 'walk.py'))})`,
    ]),
});
