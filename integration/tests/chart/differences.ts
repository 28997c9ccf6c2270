import { parse } from 'yaml';
import type { KubernetesObject } from './objects.ts';

type Objects = ReadonlyMap<string, KubernetesObject>;

/** Lists whose order has no meaning to Kubernetes. Kustomize puts what a patch adds in front. */
const UNORDERED = new Set(['volumes', 'volumeMounts']);
const ABSENT = 'nothing';

/** One line for each field that is not the same, by its path; none if both render the same. */
export function differences(kustomize: Objects, chart: Objects): string[] {
  const fieldsOf = (objects: Objects): Map<string, string> =>
    new Map([...objects].flatMap(([key, object]) => leaves(key, comparable(object))));
  const expected = fieldsOf(kustomize);
  const actual = fieldsOf(chart);
  const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return paths.flatMap((path) => {
    const [left = ABSENT, right = ABSENT] = [expected.get(path), actual.get(path)];
    return left === right ? [] : [`${path}\n    kustomize  ${left}\n    chart      ${right}`];
  });
}

/** A ConfigMap has files as text: their fields are compared, not their comments. */
function comparable(object: KubernetesObject): object {
  if (object.kind !== 'ConfigMap') return object;
  const files = Object.entries(object.data ?? {});
  return { ...object, data: Object.fromEntries(files.map(([name, text]) => [name, parse(text)])) };
}

function leaves(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value)]];
  const fields = Object.entries(value).flatMap(([key, child]) =>
    leaves(`${path} ${key}`, UNORDERED.has(key) ? byName(child) : child),
  );
  // An empty object or list is a value too.
  return fields.length > 0 ? fields : [[path, JSON.stringify(value)]];
}

function byName(list: readonly { readonly name: string }[]): object {
  return Object.fromEntries(list.map((item) => [item.name, item]));
}
