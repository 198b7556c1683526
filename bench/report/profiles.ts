import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flameGraph } from './flame.ts';
import { type CpuProfile, type SelfTime, selfTimes } from './profile.ts';

const shown = 10;
const ending = '.cpuprofile';

/**
 * Lists the self times of every CPU profile below a folder, as Markdown, and writes a flame graph beside each.
 *
 * @throws when there is none
 */
export function describeProfiles(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ending));
  if (files.length === 0) throw new Error(`No ${ending} in ${folder}. First: PROFILE_INTO=${folder} W=W2 make bench`);
  return files
    .sort()
    .map((file) => {
      const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
      const name = file.slice(0, -ending.length);
      writeFileSync(join(folder, `${name}.svg`), flameGraph(profile, `Where the time went: ${name}`));
      return describe(name, profile);
    })
    .join('\n');
}

function describe(name: string, profile: CpuProfile): string {
  const { functions, origins } = selfTimes(profile);
  const line = ({ name, share }: SelfTime) => `| ${name} | ${(share * 100).toFixed(1)} % |`;
  const table = (title: string, rows: SelfTime[]) => [`| ${title} | self time |`, '|---|---|', ...rows.map(line), ''];
  return [
    `### ${name}`,
    '',
    ...table('where', origins.slice(0, shown)),
    ...table('function', functions.slice(0, shown)),
  ].join('\n');
}
