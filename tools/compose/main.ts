import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { canReadOurFile, oldestCompose } from './compose-version.ts';
import { completeEnvFile } from './env-file.ts';

// `make up` runs this before Docker Compose. It makes the secrets that docker-compose.yml requires, once, in .env.
const file = fileURLToPath(new URL('../../.env', import.meta.url));
const { status, stdout } = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' });

if (status === 0 && canReadOurFile(stdout)) {
  const added = completeEnvFile(file, process.env);
  if (added.length > 0) process.stdout.write(`Made and kept in .env: ${added.join(', ')}.\n`);
} else {
  const found =
    status === 0 ? `Docker Compose ${stdout.trim()} is too old` : 'Docker with its Compose plugin is missing';
  process.stderr.write(
    `${found}: install version ${oldestCompose} or newer (https://docs.docker.com/compose/install/). ` +
      'Without Docker, `make start` starts the product on this machine.\n',
  );
  process.exitCode = 1;
}
