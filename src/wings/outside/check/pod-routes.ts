import { formatCidr, parseCidr } from '../../../addresses/cidr.ts';
import { parseIp } from '../../../addresses/ip.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import { lookUpRoute } from '../../../linux/route/machine-routes.ts';
import { type Connected, connectedText, tryConnect } from './connect.ts';
import type { ListedEndpoint } from './listed.ts';
import { check, skipped, warning } from './outside-check.ts';

const MOST_ROUTES = 20;
const MOST_CONNECTS = 8;

/** How packets get to a pod: straight, by a gateway, only by the default route, or not at all. */
export type PodPath = 'direct' | 'gateway' | 'default route' | 'no route';

export interface ProbedPod {
  readonly endpoint: ListedEndpoint;
  readonly path: PodPath;
  /** The link by which packets leave. */
  readonly link: string | undefined;
  /** Undefined: not tried. */
  readonly connected: Connected | undefined;
}

/** Whether pods can be reached, by a sample of endpoints. */
export const podRoutes = check('routes to pods', async (context) => {
  const { endpoints } = await context.cluster();
  return judgePods(await probePods(sampleOf(endpoints), context.machine.links, context.signal));
});

/** One endpoint for each node and network, those with a TCP port first. */
export function sampleOf(endpoints: readonly ListedEndpoint[]): readonly ListedEndpoint[] {
  const sample = new Map<string, ListedEndpoint>();
  const usable = [...endpoints].sort(
    (a, b) => Number(b.tcpPort !== undefined) - Number(a.tcpPort !== undefined),
  );
  for (const endpoint of usable) {
    const key = `${endpoint.node} ${networkOf(endpoint.address)}`;
    if (!sample.has(key)) sample.set(key, endpoint);
    if (sample.size === MOST_ROUTES) break;
  }
  return [...sample.values()];
}

/** The /24 or /64 of an address. */
function networkOf(address: string): string {
  const cidr = parseCidr(`${address}/${address.includes(':') ? 64 : 24}`);
  return cidr === undefined ? address : formatCidr(cidr);
}

export async function probePods(
  sample: readonly ListedEndpoint[],
  links: readonly MachineLink[],
  signal: AbortSignal,
): Promise<readonly ProbedPod[]> {
  return await Promise.all(
    sample.map(async (endpoint, index) => {
      const { path, link } = await pathTo(endpoint.address, links);
      const { address, tcpPort } = endpoint;
      const isTried = path !== 'no route' && tcpPort !== undefined && index < MOST_CONNECTS;
      const connected = isTried ? await tryConnect({ address, port: tcpPort }, signal) : undefined;
      return { endpoint, path, link, connected };
    }),
  );
}

async function pathTo(
  address: string,
  links: readonly MachineLink[],
): Promise<Pick<ProbedPod, 'path' | 'link'>> {
  const ip = parseIp(address);
  const found = ip === undefined ? undefined : await lookUpRoute(ip);
  if (!found?.found) return { path: 'no route', link: undefined };
  const link = links.find(({ index }) => index === found.linkIndex)?.name;
  if (found.match?.to.prefixLength === 0) return { path: 'default route', link };
  return { path: found.gateway === undefined ? 'direct' : 'gateway', link };
}

export function judgePods(pods: readonly ProbedPod[]): BasicFinding {
  if (pods.length === 0) return skipped('no ready endpoint in the scope');
  const lost = pods.filter(
    ({ path, connected }) => path === 'no route' || connected === 'no route',
  );
  if (lost.length > 0) return problem(`no route to ${named(lost)}`, routeAdvice(lost));
  const silent = pods.filter(({ connected }) => connected === 'no answer');
  if (silent.length > 0) {
    const text = `${connectedText('no answer')} from ${named(silent)}`;
    return problem(
      text,
      silent.some(({ path }) => path === 'default route') ? routeAdvice(silent) : FILTERED,
    );
  }
  const refused = pods.filter(({ connected }) => connected === 'refused');
  if (refused.length > 0) return warning(`refused by ${named(refused)}`, REFUSED);
  const unsure = pods.filter(
    ({ path, connected }) => path === 'default route' && connected === undefined,
  );
  if (unsure.length > 0) {
    return warning(`only the default route leads to ${named(unsure)}`, routeAdvice(unsure));
  }
  return good(`${pathsText(pods)}; ${pods.filter(({ connected }) => connected).length} connected`);
}

const FILTERED =
  'look for a firewall or a NetworkPolicy between this machine and the pods, and for the way back: nodes must know a route to this machine';
const REFUSED =
  'nothing listens on that port although the endpoint is ready: see the pod, and NetworkPolicies that reject';

function routeAdvice([first]: readonly ProbedPod[]): string {
  if (first === undefined) return '';
  const { address, node } = first.endpoint;
  const via = node === '' ? 'the address of its node' : `the address of node ${node}`;
  return `add a route for the pod range of each node, such as ip route add ${networkOf(address)} via <${via}> (its range is .spec.podCIDR of the Node), or let your router know them`;
}

function named(pods: readonly ProbedPod[]): string {
  const [first] = pods;
  if (first === undefined) return '';
  const { address, tcpPort, service } = first.endpoint;
  const place = tcpPort === undefined ? address : hostPort(address, tcpPort);
  return `${place} (${service})${pods.length > 1 ? ` and ${pods.length - 1} more` : ''}`;
}

export function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** `3 by a gateway, 1 direct`. */
function pathsText(pods: readonly ProbedPod[]): string {
  const words = {
    direct: 'direct',
    gateway: 'by a gateway',
    'default route': 'by the default route',
    'no route': 'without route',
  };
  const counts = [...Map.groupBy(pods, ({ path }) => path)];
  return counts.map(([path, each]) => `${each.length} ${words[path]}`).join(', ');
}
