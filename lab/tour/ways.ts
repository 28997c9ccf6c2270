import { join } from 'node:path';
import type { EndpointSlice, Service } from '../api/objects.ts';
import { paths } from '../api/objects.ts';
import { enterNamespace } from '../host/namespaces.ts';
import { type Daemon, startDaemon } from '../host/processes.ts';
import { silentProgress } from '../host/progress.ts';
import { run, tryRun } from '../host/run.ts';
import { inControlGroup } from '../host/socket-groups.ts';
import { median } from '../host/spread.ts';
import { until } from '../host/until.ts';
import type { Lab } from '../lab.ts';
import { MACHINE } from '../network/plan.ts';
import { cleanUpOutside, startOutside } from '../outside/start.ts';
import { provideBench } from '../parts/bench.ts';
import { findProxy } from '../proxies/registry.ts';
import { httpGet } from '../servers/http-get.ts';
import { startWebapp } from './webapp.ts';

/** A Service without a selector, whose slice this file writes, and a program to load it with. */
export interface WaysPlace {
  readonly lab: Lab;
  readonly bench: string;
  readonly pods: readonly string[];
}

/** Shares of what the pod itself does. */
export interface Measured {
  readonly connections: number;
  readonly requests: number;
  readonly cpu: number;
  readonly firstMs: number;
  readonly changeMs: number;
  readonly failed: number;
}

const ADDRESS = '10.96.111.133';
/** Where `bench serve` echoes. */
const ECHO_PORT = 9010;
const SERVICE = 'ways';
const SLICE = 'ways-1';
const ROUNDS = 3;
const FIRST_ASKED = 9;
const CHANGES = 5;
const DEADLINE_MS = 20_000;

export async function prepareWays(lab: Lab): Promise<WaysPlace> {
  const bench = await provideBench({ progress: silentProgress });
  const webapp = await startWebapp(lab, { nodes: [1, 2] });
  for (const pod of webapp.pods) {
    const logFile = join(lab.folder, 'logs', `${pod.spec.name}-echo.log`);
    const argv = [bench, 'serve', '--instances=2'] as const;
    startDaemon({ name: 'echo', namespacePath: pod.namespacePath, argv, logFile });
  }
  const pods = webapp.pods.map(({ address }) => address.ipv4);
  await lab.api.create<Service>(paths.services('default'), {
    metadata: { name: SERVICE },
    spec: {
      clusterIP: ADDRESS,
      ports: [
        { name: 'http', port: 80 },
        { name: 'echo', port: ECHO_PORT },
      ],
    },
  });
  await lab.api.create(paths.slices('default'), sliceTo(pods[0] ?? ''));
  return { lab, bench, pods };
}

/** Puts one way on the machine, measures it beside the direct way, and removes it. */
export async function measureWay(place: WaysPlace, proxy: string): Promise<Measured> {
  const { lab, pods } = place;
  const variant = findProxy(proxy);
  const agent = await startOutside(lab, { variant });
  const group = lab.socketGroup(MACHINE);
  try {
    await until(() => answerOf(place, group), {
      what: `${proxy} to serve`,
      deadlineMs: DEADLINE_MS,
    });
    const pod = pods[0] ?? '';
    const forwarder = await forwarderOf(agent);
    const load = (mode: string, to: string, count = '') =>
      loadOnce(place, { mode, to, count, group });
    const connections: Share[] = [];
    const requests: Share[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      connections.push({
        direct: await load('connect', pod),
        way: await load('connect', ADDRESS, forwarder),
      });
      requests.push({
        direct: await load('request', pod),
        way: await load('request', ADDRESS, forwarder),
      });
    }
    const failed = [...connections, ...requests].reduce((sum, { way }) => sum + way.failed, 0);
    return {
      connections: median(connections.map(rateShare)),
      requests: median(requests.map(rateShare)),
      cpu: median(connections.map(cpuShare)),
      firstMs: await medianOf(FIRST_ASKED, () => timed(() => answerOf(place, group))),
      changeMs: await medianOf(CHANGES, (index) => changeOnce(place, { index, group })),
      failed,
    };
  } finally {
    await agent.stop();
    await cleanUpOutside(lab);
    await pointTo(lab, pods[0] ?? '');
  }
}

interface Share {
  readonly direct: Loaded;
  readonly way: Loaded;
}

interface Loaded {
  readonly seconds: number;
  readonly count: number;
  readonly failed: number;
  readonly cpuSeconds: readonly number[];
}

function rateShare({ direct, way }: Share): number {
  return way.count / way.seconds / (direct.count / direct.seconds);
}

function cpuShare({ direct, way }: Share): number {
  const each = ({ cpuSeconds, count }: Loaded): number =>
    cpuSeconds.reduce((sum, seconds) => sum + seconds, 0) / count;
  return each(way) / each(direct);
}

async function loadOnce(
  { lab, bench }: WaysPlace,
  of: { mode: string; to: string; count: string; group: string | undefined },
): Promise<Loaded> {
  const cpu = of.count === '' ? [] : [`--count-cpu-of=${of.count}`];
  const target = `--to=${of.to}:${ECHO_PORT}`;
  const flags = [`--mode=${of.mode}`, target, '--warm=200ms', '--for=1s', ...cpu];
  const entered = enterNamespace(lab.namespacePath(MACHINE), [bench, 'load', ...flags]);
  return JSON.parse(
    await run(of.group === undefined ? entered : inControlGroup(of.group, entered)),
  ) as Loaded;
}

/** The name of the pod that answers a new connection; undefined: none does. */
async function answerOf(
  { lab }: WaysPlace,
  group: string | undefined,
): Promise<string | undefined> {
  const origin = { namespace: lab.namespacePath(MACHINE), group };
  const to = { address: ADDRESS, port: 80, path: '/hostname', deadlineMs: 1_000 };
  const answer = await httpGet(origin, to).catch(() => undefined);
  return answer?.status === 200 ? answer.body : undefined;
}

async function changeOnce(
  place: WaysPlace,
  { index, group }: { index: number; group: string | undefined },
): Promise<number> {
  const number = (index + 1) % 2;
  const address = place.pods[number] ?? '';
  const wanted = `webapp-${number}`;
  return await timed(async () => {
    await pointTo(place.lab, address);
    await until(async () => (await answerOf(place, group)) === wanted, {
      what: `${wanted} to answer`,
      deadlineMs: DEADLINE_MS,
      everyMs: 0,
    });
  });
}

/** The processes that copy bytes, where the way has some; separated by commas. */
async function forwarderOf(agent: Daemon): Promise<string> {
  // Processes of other labs are seen too: only those in the network of the agent are its own.
  const own = ['--ns', `${agent.pid}`, '--nslist', 'net'];
  return (await tryRun(['pgrep', '-d,', ...own, '-x', 'fairlead-fwd'])).stdout.trim();
}

async function pointTo(lab: Lab, address: string): Promise<void> {
  const { endpoints } = sliceTo(address);
  await lab.api.patch(paths.slice('default', SLICE), { endpoints });
}

function sliceTo(address: string): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: SLICE, labels: { 'kubernetes.io/service-name': SERVICE } },
    addressType: 'IPv4',
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'echo', port: ECHO_PORT, protocol: 'TCP' },
    ],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function medianOf(count: number, ask: (index: number) => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < count; index += 1) values.push(await ask(index));
  return median(values);
}
