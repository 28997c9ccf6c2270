import { enterNamespace } from '../host/namespaces.ts';
import { run } from '../host/run.ts';

/** What the kernel holds of the network of one namespace, one line for each thing. */
export interface NetworkState {
  readonly links: readonly string[];
  readonly addresses: readonly string[];
  readonly routes: readonly string[];
  readonly policyRules: readonly string[];
  readonly packetFilter: readonly string[];
}

type Ip = readonly string[];
const FAMILIES = ['-4', '-6'];

export async function readNetwork(namespacePath: string): Promise<NetworkState> {
  const lines = async (argv: readonly [string, ...string[]]): Promise<string[]> =>
    (await run(enterNamespace(namespacePath, argv)))
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '');
  const inBoth = async (what: Ip): Promise<string[]> =>
    (await Promise.all(FAMILIES.map((family) => lines(['ip', family, '-o', ...what])))).flat();
  return {
    links: (await lines(['ip', '-br', 'link'])).map(nameOfLink).sort(),
    addresses: (await inBoth(['address'])).map(withoutIndex).sort(),
    routes: (await inBoth(['route', 'show', 'table', 'all'])).map(steady).sort(),
    policyRules: await inBoth(['rule']),
    packetFilter: await lines(['nft', 'list', 'ruleset']),
  };
}

/** As after a boot: removes rules, links and routes that were not there before. */
export async function resetNetwork(namespacePath: string, before: NetworkState): Promise<void> {
  const inside = (argv: readonly [string, ...string[]]): Promise<string> =>
    run(enterNamespace(namespacePath, argv));
  await inside(['nft', 'flush', 'ruleset']);
  const links = (await readNetwork(namespacePath)).links;
  for (const link of links.filter((name) => !before.links.includes(name))) {
    await inside(['ip', 'link', 'delete', link]);
  }
  const { routes } = await readNetwork(namespacePath);
  for (const route of routes.filter((line) => !before.routes.includes(line))) {
    const family = route.includes(':') ? '-6' : '-4';
    await inside(['ip', family, 'route', 'delete', ...route.split(' ')]);
  }
}

/** `eth0@if5  UP  …`: the index of the peer is no property of the link. */
function nameOfLink(line: string): string {
  return /^[^@\s]+/.exec(line)?.[0] ?? line;
}

/** `2: eth0    inet …`: a link that is made again has another index. */
function withoutIndex(line: string): string {
  return line.replace(/^\d+: /, '');
}

/** Whether a neighbour answers now, and how long a route lasts, is no change of the route. */
function steady(line: string): string {
  return line.replace(/ (?:expires \S+|linkdown|dead)\b/g, '').trim();
}
