import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Prefixes of this product's settings. A variable with such a prefix that no process reads is most likely a typo. */
const ownPrefixes = ['WEBHOOK_', 'API_', 'INTERNAL_', 'WORKER_'];

export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedEnvironment<Settings> =
  | { ok: true; settings: Settings; warnings: string[] }
  | { ok: false; problems: string[] };

export interface EnvironmentRules {
  /** Settings that a file may also provide: the variable `NAME_FILE` contains the path for the setting `NAME`. */
  secrets: readonly string[];
  /** Settings of the other processes. This process ignores their variables without a warning. */
  known: readonly string[];
}

/**
 * Reads settings from environment variables. Returns all problems together, each with the name of its variable. No
 * message contains a value. An empty variable counts as unset.
 *
 * @param shape one zod schema per variable, which converts the variable's text, or undefined if unset
 * @param crossCheck finds problems between settings that are individually valid
 */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: Environment,
  rules: EnvironmentRules,
  crossCheck: (settings: z.output<z.ZodObject<Shape>>) => string[] = () => [],
): ParsedEnvironment<z.output<z.ZodObject<Shape>>> {
  const problems: string[] = [];
  const values: Record<string, string | undefined> = {};
  for (const name of Object.keys(shape)) {
    values[name] = rules.secrets.includes(name)
      ? readSecret(name, environment, problems)
      : emptyAsUnset(environment[name]);
  }
  // Report no second problem for a setting whose file could not be read.
  const unreadable = new Set(problems.map((problem) => problem.slice(0, problem.search(/_FILE:|:/))));
  const parsed = z.object(shape).safeParse(values);
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    const problem = `${name}: ${values[name] === undefined ? 'is required' : issue.message}`;
    if (!unreadable.has(name) && !problems.includes(problem)) problems.push(problem);
  }
  if (parsed.success) problems.push(...crossCheck(parsed.data));
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push('NODE_TLS_REJECT_UNAUTHORIZED: must not be 0, because certificates would then not be verified');
  }
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  return { ok: true, settings: parsed.data, warnings: unknownNames(Object.keys(shape), environment, rules) };
}

function readSecret(name: string, environment: Environment, problems: string[]): string | undefined {
  const direct = emptyAsUnset(environment[name]);
  const file = emptyAsUnset(environment[`${name}_FILE`]);
  if (file === undefined) return direct;
  if (direct !== undefined) {
    problems.push(`${name}: is set together with ${name}_FILE; set only one of them`);
    return direct;
  }
  try {
    return emptyAsUnset(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error';
    problems.push(`${name}_FILE: cannot be read (${code})`);
    return undefined;
  }
}

function emptyAsUnset(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/**
 * Unknown names are warnings, not errors: Kubernetes gives every container a variable for each service of its
 * namespace.
 */
function unknownNames(own: string[], environment: Environment, rules: EnvironmentRules): string[] {
  const known = new Set([...own, ...rules.known]);
  for (const name of Array.from(known)) known.add(`${name}_FILE`);
  return Object.keys(environment)
    .filter((name) => ownPrefixes.some((prefix) => name.startsWith(prefix)) && !known.has(name))
    .sort();
}
