import { type Cidr, contains, formatCidr, parseCidrs } from '../../../addresses/cidr.ts';
import { parseIp } from '../../../addresses/ip.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import type { ListedEndpoint } from './listed.ts';
import type { KnownNetwork, MachineView } from './machine-view.ts';
import { check, skipped, warning } from './outside-check.ts';

/** Kinds of links that lead to no other machine, unless a gateway is reached by them. */
const OWN_KINDS = ['bridge', 'dummy'];

type Networks = Pick<MachineView, 'networks' | 'addresses' | 'uplinks'>;

/** Whether networks of this machine have addresses of Services. */
export const serviceRanges = check('Service ranges', async (context) => {
  const { serviceRanges: ranges } = await context.cluster();
  return judgeServiceRanges(ranges, context.machine);
});

/** Whether networks of this machine hide pods. */
export const podRanges = check('pod ranges', async (context) => {
  const { endpoints } = await context.cluster();
  return judgePodRanges(context.settings.podNetworks, endpoints, context.machine);
});

export function judgeServiceRanges(texts: readonly string[], machine: Networks): BasicFinding {
  if (texts.length === 0) {
    const next = 'set fairlead.serviceRanges';
    return warning('not known, so overlaps and routes are not checked', next);
  }
  const ranges = parseCidrs(texts);
  const found = ranges.flatMap((range) => overlapsWith(range, machine));
  const connected = found.filter(({ isConnected }) => isConnected);
  const next =
    'renumber that network, or give the cluster another Service range: addresses that a Service has are not reached there';
  if (connected.length > 0) return problem(connected.map(({ text }) => text).join('; '), next);
  if (found.length > 0) return warning(found.map(({ text }) => text).join('; '), next);
  return good(`${texts.join(', ')} overlap no network of this machine`);
}

function overlapsWith(range: Cidr, { networks, addresses }: Networks) {
  const text = formatCidr(range);
  const own = addresses
    .filter(({ address }) => contains(range, address.base))
    .map(({ address, link }) => ({
      text: `${text} has ${formatCidr(address)}, an address of ${link}`,
      isConnected: true,
    }));
  const routed = networks
    .filter(({ to }) => contains(range, to.base) || contains(to, range.base))
    .map((network) => ({
      text: `${text} overlaps the route ${network.text}`,
      isConnected: network.isConnected,
    }));
  return [...own, ...routed];
}

export function judgePodRanges(
  ranges: readonly string[],
  endpoints: readonly ListedEndpoint[],
  machine: Networks,
): BasicFinding {
  const hidden = endpoints.flatMap((endpoint) => hiddenBy(endpoint, machine));
  if (hidden.length > 0) {
    const more = hidden.length > 1 ? `, and ${hidden.length - 1} more` : '';
    const next = 'renumber that network: packets to these pods never leave this machine';
    return problem(`${hidden[0]}${more}`, next);
  }
  const crossed = parseCidrs(ranges).flatMap((range) =>
    machine.networks
      .filter(({ to, isConnected }) => isConnected && contains(range, to.base))
      .map(({ text }) => `${formatCidr(range)} contains the network ${text}`),
  );
  const next = 'make sure that no node gives addresses of that network to pods';
  if (crossed.length > 0) return warning(crossed.join('; '), next);
  if (ranges.length + endpoints.length === 0) return skipped('no pod range and no endpoint known');
  return good(`no network of this machine hides one of ${endpoints.length} endpoints`);
}

/** A network that belongs to this machine alone, such as docker0, has the address. */
function hiddenBy({ address, service }: ListedEndpoint, machine: Networks): string[] {
  const ip = parseIp(address);
  if (ip === undefined) return [];
  const own = machine.addresses.find((each) => contains(each.address, ip));
  if (own !== undefined) return [`endpoint ${address} of ${service} is an address of ${own.link}`];
  const network = machine.networks
    .filter(({ to }) => contains(to, ip))
    .sort((a, b) => b.to.prefixLength - a.to.prefixLength)[0];
  if (network === undefined || !network.isConnected || !isOwn(network, machine)) return [];
  return [`endpoint ${address} of ${service} is in the network ${network.text}`];
}

function isOwn({ kind, link }: KnownNetwork, { uplinks }: Networks): boolean {
  return OWN_KINDS.includes(kind) && !uplinks.includes(link);
}
