import type { Settings } from '../../../config/settings.ts';
import { type BasicFinding, good } from '../../../doctor/basic-finding.ts';
import { kernelSysctls } from '../../../linux/sysctl.ts';
import { SysctlError } from '../../../linux/sysctl-error.ts';
import { check, warning } from './outside-check.ts';
import { probePods, sampleOf } from './pod-routes.ts';

const STRICT = 1;

/** Whether the kernel would drop answers that come by another interface. */
export const reversePath = check('reverse path', async (context) => {
  const { endpoints } = await context.cluster();
  const { links, uplinks } = context.machine;
  const withoutPorts = sampleOf(endpoints).map((each) => ({ ...each, tcpPort: undefined }));
  const pods = await probePods(withoutPorts, links, context.signal);
  const podLinks = pods.flatMap(({ link }) => link ?? []);
  const strict = links.map(({ name }) => name).filter(isStrict);
  return judgeReversePath({ podLinks, uplinks, strict });
});

/** Whether this machine forwards packets of others to Services. */
export const forwarding = check('forwarding', async ({ settings, machine: { links } }) => {
  const names = ['all', ...links.map(({ name }) => name)];
  return judgeForwarding(settings, isForwarding(names, read));
});

/** An interface may forward what it receives although the machine as a whole does not. */
export function isForwarding(
  names: readonly string[],
  readSetting: (name: string) => string,
): boolean {
  return ['ipv4', 'ipv6'].some((family) =>
    names.some((name) => Number(readSetting(`net/${family}/conf/${name}/forwarding`)) > 0),
  );
}

/** The kernel uses the larger value of `all` and of the interface; 2 is loose. */
function isStrict(link: string): boolean {
  const values = ['all', link].map((name) => Number(read(`net/ipv4/conf/${name}/rp_filter`)));
  return Math.max(...values) === STRICT;
}

function read(name: string): string {
  try {
    return kernelSysctls().read(name);
  } catch (error) {
    // An interface that is gone by now.
    if (error instanceof SysctlError) return '0';
    throw error;
  }
}

export function judgeReversePath(links: {
  /** By which packets to pods leave. */
  readonly podLinks: readonly string[];
  /** By which gateways are reached, so answers may come. */
  readonly uplinks: readonly string[];
  readonly strict: readonly string[];
}): BasicFinding {
  const others = links.uplinks.filter((link) => !links.podLinks.includes(link));
  const dropping = others.filter((link) => links.strict.includes(link));
  if (links.podLinks.length === 0 || dropping.length === 0) {
    return good('answers of pods are accepted on the interfaces that have gateways');
  }
  const out = [...new Set(links.podLinks)].join(', ');
  return warning(
    `packets to pods leave by ${out}; answers that come by ${dropping.join(', ')} are dropped (rp_filter is strict)`,
    `if answers take that way: sysctl -w net.ipv4.conf.${dropping[0]}.rp_filter=2`,
  );
}

export function judgeForwarding(
  { clients }: Pick<Settings, 'clients'>,
  isOn: boolean,
): BasicFinding {
  if (clients === 'everybody' && isOn) {
    return warning(
      'this machine is a gateway: hosts that route packets to it reach every Service, with its address',
      'remove everybody from fairlead.clients, or name interfaces; or sysctl -w net.ipv4.ip_forward=0',
    );
  }
  if (!isOn) return good('off');
  const served = clients === 'everybody' ? [] : clients;
  return good(`on; Services are for ${['own sockets', ...served].join(', ')} alone`);
}
