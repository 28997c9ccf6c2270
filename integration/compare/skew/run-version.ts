import { join } from 'node:path';
import { Barrier } from '../../../conformance/runner/barrier.ts';
import { mapConcurrently } from '../../../conformance/runner/concurrently.ts';
import { runScenario, type ScenarioResult } from '../../../conformance/runner/run-scenario.ts';
import { AddressPool } from '../../../conformance/world.ts';
import { type Progress, silentProgress } from '../../../lab/host/progress.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { DEFAULT_NETWORK } from '../../../lab/network/variants/registry.ts';
import { type ApiVersion, describeApiVersion } from '../../../lab/parts/api-version.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import type { ServerReport } from '../../../src/cluster/server-report.ts';
import { loudLines } from './proxy-log.ts';
import { chosenFor } from './scenarios.ts';

export interface VersionRun {
  readonly version: ApiVersion;
  readonly proxy: string;
  /** Of scenarios; a fixed choice when not given. */
  readonly names?: readonly string[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** How Fairlead did with an API server of one version. */
export interface VersionResult {
  readonly version: ApiVersion;
  /** As `fairlead status` of the first node has it. */
  readonly server: ServerReport;
  readonly serviceRanges: readonly string[];
  /** From the start of the processes to the last node that has everything in its kernel. */
  readonly firstSyncMs: number;
  readonly results: readonly ScenarioResult[];
  /** Scenarios that the API server does not accept. */
  readonly leftOut: readonly string[];
  /** Warnings, and worse, of each node. */
  readonly warnings: readonly (readonly string[])[];
}

const AT_ONCE = 6;
const BARRIER_DEADLINE_MS = 30_000;

/** Runs Fairlead on a lab whose control plane behaves as a version, and asks packets. */
export async function runVersion(run: VersionRun): Promise<VersionResult> {
  const { version, signal, progress = silentProgress } = run;
  await using lab = await progress.step(`lab: Kubernetes ${describeApiVersion(version)}`, () =>
    startLab({ apiVersion: version, signal }),
  );
  const startedAtMs = performance.now();
  const proxies = await progress.step(run.proxy, () => lab.startProxies(findProxy(run.proxy)));
  const firstSyncMs = performance.now() - startedAtMs;
  const { scenarios, leftOut } = chosenFor(version, run.names);
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  const network = DEFAULT_NETWORK;
  const place = { lab, proxy: run.proxy, network, barrier, addresses: new AddressPool() };
  const { lateness } = findProxy(run.proxy);
  const bench = { ...place, latenessMs: lateness?.withinMs ?? 0 };
  const results = await progress.step(`${scenarios.length} scenarios`, () =>
    mapConcurrently(scenarios, AT_ONCE, (scenario) => runScenario(bench, scenario, 1)),
  );
  const { apiServer = { gaps: [] }, node } = await snapshotOf(lab, 'node1');
  const logs = [...proxies.values()].map(({ logFile }) => logFile);
  return {
    version,
    server: apiServer,
    serviceRanges: node.serviceRanges,
    firstSyncMs,
    results,
    leftOut,
    warnings: await Promise.all(logs.map(loudLines)),
  };
}

export async function snapshotOf(lab: Lab, node: string): Promise<AgentSnapshot> {
  const socketPath = join(lab.folder, 'proxies', node, 'run', 'status.sock');
  return (await readStatus({ socketPath })) as AgentSnapshot;
}

/** What is wrong with a result, in words; nothing when all is as it should be. */
export function faultsOf({ results, warnings, server, serviceRanges }: VersionResult): string[] {
  const failed = results.filter(({ result }) => result === 'fail');
  const most = server.gaps.length > 0 ? 1 : 0;
  const isMissing = server.gaps.some(({ feature }) => feature === 'ServiceCIDR');
  return [
    ...failed.map(({ scenario, reason }) => `${scenario}: ${reason}`),
    ...warnings
      .filter((lines) => lines.length > most)
      .map((lines) => `${lines.length} warnings, at most ${most} expected: ${lines.join(' / ')}`),
    ...(server.version === undefined ? ['status does not name the version of the server'] : []),
    ...(serviceRanges.length > 0 || isMissing ? [] : ['the service ranges are not known']),
  ];
}
