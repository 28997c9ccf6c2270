import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../api/objects.ts';
import { paths } from '../api/objects.ts';
import { cgroupName, version2Path } from '../host/cgroups.ts';
import { LabError } from '../host/errors.ts';
import { runInteractive } from '../host/interactive.ts';
import {
  enterNamespace,
  listNamespaces,
  namespaceName,
  namespacePath,
} from '../host/namespaces.ts';
import { inControlGroup, socketGroupFolder } from '../host/socket-groups.ts';
import { MACHINE } from '../network/plan.ts';
import { CONTAINER } from '../outside/hosts.ts';
import { connectToLab } from './running-lab.ts';

export interface HostOfLab {
  readonly lab: string;
  /** `fabric`, `client`, a node, or a pod as NAMESPACE-NAME. */
  readonly role: string;
}

type Argv = readonly [string, ...string[]];

interface PodOnNode extends KubeObject {
  readonly spec: { readonly nodeName?: string };
}

/** Runs a command as a program of this host would run; gives its exit code. */
export async function runOnHost(host: HostOfLab, argv: Argv): Promise<number> {
  return await runInteractive(await argvOnHost(host, argv));
}

/** The command, in the network namespace of the host and in its control group, where it has one. */
export async function argvOnHost(host: HostOfLab, argv: Argv): Promise<Argv> {
  await assertHost(host);
  const entered = enterNamespace(namespacePath(host), argv);
  const group = await groupOf(host);
  return group === undefined ? entered : inControlGroup(group, entered);
}

async function assertHost(host: HostOfLab): Promise<void> {
  const namespaces = await listNamespaces(host.lab);
  if (namespaces.includes(namespaceName(host))) return;
  const known = namespaces.map((name) => name.split('-').slice(2).join('-')).join(', ');
  throw new LabError('LAB_NOT_FOUND', `lab '${host.lab}' has no host '${host.role}'`, {
    next: known === '' ? 'start it: npm run lab -- up' : `its hosts: ${known}`,
  });
}

/**
 * A proxy that acts on sockets acts on those of its node's control group. A command outside of it
 * would be served by the rules for packets, and seem to prove what it does not.
 */
async function groupOf(host: HostOfLab): Promise<string | undefined> {
  // A container's sockets are of the host that it runs on.
  const role = host.role === CONTAINER ? MACHINE : host.role;
  const ofHost = nodeGroup({ lab: host.lab, role });
  if (ofHost !== undefined) return ofHost;
  if (!existsSync(socketGroupFolder(host.lab))) return undefined;
  const node = await nodeOfPod(host);
  return node === undefined ? undefined : nodeGroup({ lab: host.lab, role: node });
}

/** The cgroup of a node of either kind, or of the machine; real nodes also have one for their kubelet. */
function nodeGroup(node: HostOfLab): string | undefined {
  const folders = [join(socketGroupFolder(node.lab), node.role), version2Path(cgroupName(node))];
  return folders.find((folder) => folder !== undefined && existsSync(folder));
}

async function nodeOfPod(host: HostOfLab): Promise<string | undefined> {
  using api = await connectToLab(host.lab);
  const { items } = await api.list<PodOnNode>(paths.allPods);
  const pod = items.find(({ metadata }) => `${metadata.namespace}-${metadata.name}` === host.role);
  return pod?.spec.nodeName;
}
