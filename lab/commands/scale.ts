import { join } from 'node:path';
import type { KubeObject } from '../api/objects.ts';
import { paths } from '../api/objects.ts';
import { LabError } from '../host/errors.ts';
import { labFolder } from '../host/folders.ts';
import { formatTable } from '../host/table.ts';
import { PodRunner, type RunningPod } from '../kubelet/pods.ts';
import { nodeName, podAddress } from '../network/plan.ts';
import { nodeIndexes } from '../network/topology.ts';
import { findNetwork } from '../network/variants/registry.ts';
import type { Parts } from '../parts/build.ts';
import { demoPod } from './demo.ts';
import { connectToLab, readLabRecord } from './running-lab.ts';

export interface Scaling {
  readonly lab: string;
  readonly service: string;
  readonly count: number;
  readonly parts: Pick<Parts, 'agnhost'>;
}

interface PodObject extends KubeObject {
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly podIP?: string };
}

interface NumberedPod extends RunningPod {
  /** The one in its name. */
  readonly number: number;
  readonly address: string;
}

const NAMESPACE = 'default';
/** `lab up` gives a node's pods low numbers, one after the other. */
const HIGHEST_HOST = 255;

/** Runs more pods behind the Service of `lab up`, or ends the newest; says which there are. */
export async function scale(of: Scaling): Promise<string> {
  const record = await readLabRecord(of.lab);
  using api = await connectToLab(of.lab);
  if ((await api.find(paths.service(NAMESPACE, of.service))) === undefined) {
    const what = `lab '${of.lab}' has no Service ${NAMESPACE}/${of.service}`;
    const next = 'list them: npm run lab -- kubectl get services';
    throw new LabError('LAB_NOT_FOUND', what, { next });
  }
  const readPods = async (): Promise<NumberedPod[]> =>
    readNumbered((await api.list<PodObject>(paths.pods(NAMESPACE))).items, record);
  const pods = await readPods();
  const ours = pods.filter(({ name }) => isOf(of.service, name));
  const runner = new PodRunner({
    lab: of.lab,
    api,
    podNetwork: record.podNetwork,
    network: findNetwork(record.network),
    logFolder: join(labFolder(of.lab), 'logs'),
    agnhost: of.parts.agnhost,
    lastHosts: lastHosts(pods),
  });
  for (const pod of ours.slice(of.count)) await runner.end(pod);
  for (const number of freeNumbers(ours, of.count)) {
    const nodeIndex = ((number - 1) % record.nodeCount) + 1;
    await runner.run(demoPod({ service: of.service, number, nodeIndex }));
  }
  return describe(of, await readPods());
}

function isOf(service: string, podName: string): boolean {
  return podName.slice(0, podName.lastIndexOf('-')) === service;
}

/** Those that a lab runs itself, the oldest first. */
function readNumbered(
  objects: readonly PodObject[],
  record: { readonly nodeCount: number },
): NumberedPod[] {
  const indexes = new Map(nodeIndexes(record).map((index) => [nodeName(index), index]));
  const pods = objects.flatMap(({ metadata: { name }, spec, status }) => {
    const nodeIndex = indexes.get(spec.nodeName ?? '');
    const address = status?.podIP ?? '';
    const host = nodeIndex === undefined ? undefined : hostOf(nodeIndex, address);
    const number = Number(name.slice(name.lastIndexOf('-') + 1));
    if (nodeIndex === undefined || host === undefined || !Number.isInteger(number)) return [];
    return [{ namespace: NAMESPACE, name, nodeIndex, host, number, address }];
  });
  return pods.sort((a, b) => a.number - b.number);
}

function hostOf(nodeIndex: number, address: string): number | undefined {
  const hosts = Array.from({ length: HIGHEST_HOST }, (_, index) => index + 1);
  return hosts.find((host) => podAddress(nodeIndex, host).ipv4 === address);
}

function lastHosts(pods: readonly NumberedPod[]): Map<number, number> {
  const last = new Map<number, number>();
  for (const { nodeIndex, host } of pods) {
    last.set(nodeIndex, Math.max(last.get(nodeIndex) ?? 0, host));
  }
  return last;
}

function freeNumbers(pods: readonly NumberedPod[], count: number): number[] {
  const taken = new Set(pods.map(({ number }) => number));
  const wanted = Math.max(0, count - pods.length);
  const candidates = Array.from({ length: count + pods.length }, (_, index) => index + 1);
  return candidates.filter((number) => !taken.has(number)).slice(0, wanted);
}

function describe({ service }: Scaling, pods: readonly NumberedPod[]): string {
  const ours = pods.filter(({ name }) => isOf(service, name));
  const rows = ours.map(({ name, nodeIndex, address }) => [name, nodeName(nodeIndex), address]);
  const count = ours.length === 1 ? '1 pod' : `${ours.length} pods`;
  return `${service} has ${count}\n\n${formatTable([['POD', 'NODE', 'ADDRESS'], ...rows])}`;
}
