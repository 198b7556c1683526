import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import type { Generator } from './describe-walk.ts';

const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const runtime = 'github.com/oapi-codegen/runtime@v1.8.0';
const documents = { publicapi: 'openapi.json', internalapi: 'internal-openapi.json' };

export function oapiCodegen(go: string): Generator {
  return {
    name: 'oapi-codegen',
    generate: async (run, folder) => {
      await run(go, ['mod', 'init', 'walk']);
      await run(go, ['get', runtime]);
      // Says what it downloads.
      await run(go, ['run', generator, '-version']);
      let warnings = '';
      for (const [name, document] of Object.entries(documents)) {
        await mkdir(join(folder, name));
        const output = ['-package', name, '-o', join(name, 'client.go')];
        const args = ['run', generator, '-generate', 'types,client', ...output, join(projectFolder, 'docs', document)];
        warnings += (await run(go, args)).stderr;
      }
      return warnings;
    },
    walk: async (run, folder) => {
      await copyFile(join(import.meta.dirname, 'walk.go'), join(folder, 'walk.go'));
      await run(go, ['mod', 'tidy']);
      return run(go, ['run', '.']);
    },
  };
}
