import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { completeEnvFile } from './env-file.ts';

// `make up` runs this before Docker Compose. It makes the secrets that docker-compose.yml requires, once, in .env.
const file = fileURLToPath(new URL('../../.env', import.meta.url));

if (spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0) {
  const added = completeEnvFile(file, process.env);
  if (added.length > 0) process.stdout.write(`Made and kept in .env: ${added.join(', ')}.\n`);
} else {
  process.stderr.write(
    'Docker with its compose plugin is missing: see https://docs.docker.com/compose/install/. ' +
      'Without Docker, `make start` brings the product up on this machine.\n',
  );
  process.exitCode = 1;
}
