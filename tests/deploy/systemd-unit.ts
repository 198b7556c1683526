import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** A unit file of deploy/systemd, with the values of each name in the order of its lines. */
export interface Unit {
  text: string;
  all(name: string): string[];
  /** The value of a name that appears once. */
  one(name: string): string;
}

export const unitNames = ['enterprise-api@', 'enterprise-api-worker@', 'enterprise-api-migrate@'] as const;

export type UnitName = (typeof unitNames)[number];

const folder = new URL('../../deploy/systemd/', import.meta.url);
/** Where the units say that the product is: the version in use, and for migrations the one that they name. */
const installed = /\/opt\/enterprise-api\/(?:current|%i)/g;

/** @param project the folder that stands for the one in which the units look for the product; without it the unit as it is */
export function readUnit(name: UnitName, project?: string): Unit {
  const written = readFileSync(new URL(`${name}.service`, folder), 'utf8');
  const text = project === undefined ? written : written.replaceAll(installed, project.replace(/\/$/, ''));
  const all = (key: string) =>
    [...text.matchAll(/^(\w+)=(.*)$/gm)].flatMap(([, found, value = '']) => (found === key ? [value] : []));
  const one = (key: string) => {
    const values = all(key);
    if (values.length !== 1) throw new Error(`${name}.service has ${values.length} lines ${key}=, not one.`);
    return values[0] ?? '';
  };
  return { text, all, one };
}

/** The environment of an instance, from the files that its unit names; a file that may be missing may be missing here. */
export function environmentOf(unit: Unit, instance: string, files: Readonly<Record<string, string>>) {
  const environment: Record<string, string> = {};
  for (const value of unit.all('EnvironmentFile')) {
    const path = value.replace(/^-/, '').replace('%i', instance);
    const text = files[path];
    if (text === undefined && !value.startsWith('-')) throw new Error(`There is no ${path}.`);
    Object.assign(environment, parseEnv(text ?? ''));
  }
  return environment;
}
