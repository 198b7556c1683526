import { spawnSync } from 'node:child_process';

// `make audit`: known vulnerabilities of the packages that ship, without those that only build and test.
// Exit code 0: none of severity high or above. 1: at least one. 2: unknown, because the registry gave no advisories.

interface Report {
  vulnerabilities?: Record<
    string,
    { severity: string; range: string; via: (string | { title: string; url: string })[] }
  >;
  message?: string;
}

const severe = new Set(['high', 'critical']);

function main(): number {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
  const report = parse(stdout);
  if (report?.vulnerabilities === undefined) {
    console.error(`Not audited: the registry gave no advisories (${report?.message?.split(' - ')[0] ?? 'no answer'}).`);
    return 2;
  }
  const found = Object.entries(report.vulnerabilities).filter(([, { severity }]) => severe.has(severity));
  for (const [name, { severity, range, via }] of found) {
    const why = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`));
    console.error(`${name} ${range}: ${severity}: ${why.join('; ')}`);
  }
  if (found.length === 0) console.log('No vulnerability of severity high or above is known in what ships.');
  return found.length === 0 ? 0 : 1;
}

function parse(text: string): Report | null {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return null;
  }
}

process.exitCode = main();
