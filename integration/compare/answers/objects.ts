import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { CORPUS } from '../../../conformance/corpus.ts';
import { nodeName } from '../../../lab/network/plan.ts';
import { corpusObjects } from '../../tests/render-equality/corpus-objects.ts';
import { isValid } from '../../tests/render-equality/valid-state.ts';
import { type ClusterState, clusterStates } from '../oracle/states.ts';

/** A file of manifests, and a node that is asked about it. */
export interface Manifests {
  readonly name: string;
  readonly path: string;
  readonly node: string;
  /** The same objects, few in a file: `explain` reads all of them for each question. */
  readonly parts: readonly Manifests[];
}

interface Objects {
  readonly services: readonly object[];
  readonly slices: readonly object[];
}

const SEED = 44;
const NAMESPACES_IN_A_PART = 20;
/** The generated node ports end before those of the next cluster begin. */
const NODE_PORTS_OF_EACH = 2;
const MOST_STATES = 250;

/** The objects of every conformance scenario, seen from two nodes, and of generated clusters. */
export async function writeManifests(folder: string, states: number): Promise<Manifests[]> {
  const nodes = [nodeName(1), nodeName(2)];
  const corpus = await write(join(folder, 'corpus'), corpusObjects(CORPUS), nodes);
  const generated = await write(join(folder, 'generated'), generatedObjects(states), ['here']);
  const from = (name: string, node: string, [path = '', ...parts]: readonly string[]) => ({
    name,
    node,
    path,
    parts: parts.map((part) => ({ name, node, path: part, parts: [] })),
  });
  return [
    ...nodes.map((node) => from(`scenarios from ${node}`, node, corpus)),
    from(`${states} generated clusters`, 'here', generated),
  ];
}

/** A file of all, and the files of its parts. */
async function write(
  path: string,
  objects: Objects,
  nodes: readonly string[],
): Promise<readonly string[]> {
  const namespaceOf = (object: object): string =>
    (object as { metadata: { namespace: string } }).metadata.namespace;
  const names = [...new Set(objects.services.map(namespaceOf))];
  const parts = Array.from(
    { length: Math.ceil(names.length / NAMESPACES_IN_A_PART) },
    (_, part) =>
      new Set(names.slice(part * NAMESPACES_IN_A_PART, (part + 1) * NAMESPACES_IN_A_PART)),
  );
  const chosen = [new Set(names), ...parts].map((wanted) => ({
    services: objects.services.filter((each) => wanted.has(namespaceOf(each))),
    slices: objects.slices.filter((each) => wanted.has(namespaceOf(each))),
  }));
  const paths = chosen.map((_, index) => `${path}-${index}.json`);
  for (const [index, some] of chosen.entries()) {
    await writeFile(paths[index] ?? path, list({ ...some, nodes }));
  }
  return paths;
}

/** All in one cluster: each in a namespace and with addresses of its own, external ones shared. */
function generatedObjects(count: number): Objects {
  if (count > MOST_STATES) throw new RangeError(`at most ${MOST_STATES} clusters fit into one`);
  const states = fc
    .sample(clusterStates(), { numRuns: 4 * count, seed: SEED })
    .filter(isValid)
    .slice(0, count)
    .map(inOwnPlace);
  return {
    services: states.flatMap(({ services }) => services),
    slices: states.flatMap(({ slices }) => slices),
  };
}

function inOwnPlace(state: ClusterState, index: number): ClusterState {
  const text = JSON.stringify(state)
    .replaceAll('"namespace":"ns"', `"namespace":"ns${index}"`)
    .replaceAll('10.96.0.', `10.96.${index}.`)
    .replaceAll('fd00:96::', `fd00:96:0:${index.toString(16)}::`)
    .replaceAll('"nodePort":30080', `"nodePort":${31_000 + NODE_PORTS_OF_EACH * index}`)
    .replaceAll('"nodePort":30053', `"nodePort":${31_001 + NODE_PORTS_OF_EACH * index}`);
  return JSON.parse(text) as ClusterState;
}

function list(of: Objects & { readonly nodes: readonly string[] }): string {
  const nodes = of.nodes.map((name, index) => ({
    metadata: { name, labels: { 'topology.kubernetes.io/zone': `zone-${'ab'[index]}` } },
    status: { addresses: [{ type: 'InternalIP', address: `172.30.1.${index + 1}` }] },
  }));
  const items = [
    ...nodes.map((each) => ({ apiVersion: 'v1', kind: 'Node', ...each })),
    ...of.services.map((each) => ({ apiVersion: 'v1', kind: 'Service', ...each })),
    ...of.slices.map((each) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      ...each,
    })),
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}
