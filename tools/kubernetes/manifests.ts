import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** What Kubernetes keeps, or a part of it that kustomize merges into one. */
export interface Manifest {
  /** Its file, as a path from the folder of all, and its place there. */
  name: string;
  content: KubernetesResource;
  isPatch: boolean;
}

export interface KubernetesResource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

const resourceSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

const kustomizationSchema = z.looseObject({
  resources: z.array(z.string()).default([]),
  patchesStrategicMerge: z.array(z.string()).default([]),
});

/** @throws on a document that is no YAML or no resource */
export function readResources(text: string): KubernetesResource[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return resourceSchema.parse(document.toJS());
  });
}

/** Every manifest below a folder that a kustomization names. @throws when a file is named by none */
export function readManifests(folder: string): Manifest[] {
  const named = globSync('**/kustomization.yaml', { cwd: folder }).flatMap((file) => {
    const { resources, patchesStrategicMerge } = kustomizationSchema.parse(
      parse(readFileSync(join(folder, file), 'utf8')),
    );
    const beside = (path: string) => normalize(join(dirname(file), path));
    return [
      ...resources.map((path) => ({ path: beside(path), isPatch: false })),
      ...patchesStrategicMerge.map((path) => ({ path: beside(path), isPatch: true })),
    ];
  });
  const files = globSync('**/*.yaml', { cwd: folder, exclude: ['**/kustomization.yaml'] });
  const unused = files.filter((file) => !named.some(({ path }) => path === file));
  if (unused.length > 0) throw new Error(`No kustomization.yaml names ${unused.join(', ')}.`);
  return named.flatMap(({ path, isPatch }) =>
    readResources(readFileSync(join(folder, path), 'utf8')).map((content, at) => ({
      name: `${path} (${at + 1})`,
      content,
      isPatch,
    })),
  );
}

/** The settings that these manifests take from a Secret. */
export function secretSettings(manifests: readonly { content: unknown }[]): Set<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const reference = secretReference.safeParse(value);
    if (reference.success) names.add(reference.data.name);
    else Object.values(value).forEach(visit);
  };
  for (const { content } of manifests) visit(content);
  return names;
}

const secretReference = z.object({
  name: z.string(),
  valueFrom: z.object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }) }),
});
