import assert from 'node:assert/strict';
import { parse, parseAllDocuments } from 'yaml';

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Every object of a rendering, by kind, namespace and name. */
export function objectsOf(rendering: string): ReadonlyMap<string, KubernetesObject> {
  const objects = new Map<string, KubernetesObject>();
  for (const document of parseAllDocuments(rendering)) {
    assert.deepEqual(document.errors, [], rendering);
    const object = document.toJS() as KubernetesObject | null;
    if (object === null) continue;
    const { namespace = '', name } = object.metadata;
    const key = `${object.kind} ${namespace}/${name}`;
    assert.ok(!objects.has(key), `${key} is rendered twice`);
    objects.set(key, object);
  }
  return objects;
}

/** The files of the ConfigMap, read as Fairlead reads them. */
export function configurationOf(rendering: string): Readonly<Record<string, unknown>> {
  const data = objectsOf(rendering).get('ConfigMap kube-system/fairlead')?.data;
  assert.ok(data !== undefined, 'the rendering has no ConfigMap');
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, parse(text)]));
}
