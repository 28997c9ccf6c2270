import { existsSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { formatCidr } from '../../addresses/cidr.ts';
import { isStaleSocket } from '../../agent/servers/status-socket.ts';
import { STATUS_SOCKET, SYSCTL_STATE } from '../../config/run-folder.ts';
import type { DataPlane } from '../../dataplanes/contract.ts';
import { removeTranslated } from '../../flows/remove-translated.ts';
import { type Conntrack, KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { listOurRoutes, removeRoute } from '../../linux/route/our-routes.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import { plannedRestore, restoreSysctls } from '../../linux/sysctl-state.ts';
import { ifInstalled } from '../../modes/remove-part.ts';
import { podNetworks } from '../../wings/wing-registry.ts';
import { knownAddresses } from '../run/known-addresses.ts';
import { assertOwnFolder } from '../run/make-run-folder.ts';
import type { CleanableMachine, RemovedPart } from './clean-machine.ts';

const FLOWS_DEADLINE_MS = 60_000;

export interface KernelMachineOptions {
  readonly runFolder: string;
  readonly pinFolder: string;
  readonly cgroup?: string;
  /** Reads everything and changes nothing. */
  readonly dryRun?: true;
}

/** This machine, in the network namespace of the process. */
export function kernelMachine(options: KernelMachineOptions): CleanableMachine {
  const { runFolder, pinFolder, cgroup, dryRun } = options;
  const ebpf = cgroup === undefined ? { pinFolder } : { pinFolder, cgroupPath: cgroup };
  const conntrack = new KernelConntrack();
  return {
    removePart: (part) => takeAway(part.open({ ebpf, runFolder, isCleanup: true }), dryRun),
    removeRoutes: async () => {
      const routes = await listOurRoutes();
      if (!dryRun) for (const route of routes) await removeRoute(route);
      return [...routes.map(({ to }) => formatCidr(to)), ...(await removePodNetwork(dryRun))];
    },
    removeFlows: async (frontends) =>
      await removeTranslated(dryRun ? untouched(conntrack) : conntrack, {
        frontends,
        nodePortAddresses: await nodePortAddresses(),
        signal: AbortSignal.timeout(FLOWS_DEADLINE_MS),
      }),
    restoreSettings: async () => {
      if (existsSync(runFolder)) await assertOwnFolder(runFolder);
      const work = dryRun ? plannedRestore : restoreSysctls;
      return await work(kernelSysctls(), join(runFolder, SYSCTL_STATE));
    },
    removeSocket: async () => {
      const path = join(runFolder, STATUS_SOCKET);
      if (!(await isStaleSocket(path, AbortSignal.timeout(DEADLINE_MS)))) return false;
      await assertOwnFolder(runFolder);
      if (!dryRun) await unlink(path);
      return true;
    },
  };
}

/** What `fairlead.podNetwork` wrote: one route for each pod, so a count. */
async function removePodNetwork(dryRun: true | undefined): Promise<readonly string[]> {
  const networks = await podNetworks();
  const { rules, routes } = (await networks?.count()) ?? { rules: 0, routes: 0 };
  if (rules + routes === 0) return [];
  if (!dryRun) await networks?.remove();
  return [`the pod network (${rules} routing rules, ${routes} routes)`];
}

/** Undefined: the programs are not installed, as in an image for another mode. */
async function takeAway(
  plane: DataPlane,
  dryRun: true | undefined,
): Promise<RemovedPart | undefined> {
  return await ifInstalled(async () => {
    const frontends = (await plane.read('frontends')) ?? [];
    const holdings = (await plane.read('inventory')) ?? [];
    // Remove even if nothing was counted: it is harmless, and a count can miss objects.
    if (!dryRun) await plane.remove();
    return { frontends, holdings };
  });
}

function untouched(conntrack: Conntrack): Conntrack {
  return {
    filtersCheaply: () => conntrack.filtersCheaply(),
    flows: (question, signal) => conntrack.flows(question, signal),
    remove: async (flows) => flows,
  };
}

const DEADLINE_MS = 5000;

/** Every address of the machine: where node ports can have been served. */
async function nodePortAddresses(): Promise<readonly string[]> {
  const found = Promise.withResolvers<readonly string[]>();
  const lifetime = new AbortController();
  const deadline = AbortSignal.any([lifetime.signal, AbortSignal.timeout(DEADLINE_MS)]);
  const watching = knownAddresses().run(found.resolve, deadline);
  try {
    return await Promise.race([found.promise, watching.then(() => [])]);
  } finally {
    lifetime.abort();
    await watching;
  }
}
