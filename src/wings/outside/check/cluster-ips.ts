import { type Cidr, contains, formatCidr, parseCidrs } from '../../../addresses/cidr.ts';
import { parseIp } from '../../../addresses/ip.ts';
import { countText } from '../../../commands/status/status-texts.ts';
import type { Settings } from '../../../config/settings.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import type { ClusterView } from './cluster-view.ts';
import { check, warning } from './outside-check.ts';

const SHOWN = 3;
const RECORD = 'repeat `fairlead outside init --apply` with the same options';

/** Whether the recorded Service ranges have every ClusterIP and every ServiceCIDR of the cluster. */
export const clusterIps = check('ClusterIPs', async ({ settings, cluster }) =>
  judgeClusterIps(settings, await cluster()),
);

export function judgeClusterIps(
  settings: Pick<Settings, 'serviceRanges' | 'servedAddresses'>,
  cluster: Pick<ClusterView, 'services' | 'declaredRanges'>,
): BasicFinding {
  if (settings.servedAddresses.allClusterIPs) return good('served at every address');
  const recorded = parseCidrs(settings.serviceRanges);
  if (recorded.length === 0) return noneRecorded(cluster);
  const ranges = settings.serviceRanges.join(', ');
  const outside = [...outsideServices(recorded, cluster), ...outsideRanges(recorded, cluster)];
  if (outside.length === 0) {
    return good(`${ranges} are recorded and have those of ${servicesText(cluster)}`);
  }
  const more = outside.length > SHOWN ? `, and ${outside.length - SHOWN} more` : '';
  const what = `not served, because outside of the recorded ${ranges}: ${outside.slice(0, SHOWN).join(', ')}${more}`;
  const next = `if the cluster was given another Service range, ${RECORD}; if not, find out who made these: they would take this machine's traffic to these addresses`;
  return warning(what, next);
}

function noneRecorded({ declaredRanges }: Pick<ClusterView, 'declaredRanges'>): BasicFinding {
  const declared =
    declaredRanges.length === 0 ? '' : `; the cluster names ${declaredRanges.join(', ')}`;
  return problem(
    `no Service range is recorded, so none is served${declared}`,
    `${RECORD}, or set fairlead.serviceRanges`,
  );
}

function outsideServices(
  recorded: readonly Cidr[],
  { services }: Pick<ClusterView, 'services'>,
): readonly string[] {
  return services.flatMap(({ key, clusterIPs }) =>
    clusterIPs
      .filter((address) => {
        const ip = parseIp(address);
        return ip !== undefined && !recorded.some((range) => contains(range, ip));
      })
      .map((address) => `${address} of ${key}`),
  );
}

function outsideRanges(
  recorded: readonly Cidr[],
  { declaredRanges }: Pick<ClusterView, 'declaredRanges'>,
): readonly string[] {
  return parseCidrs(declaredRanges)
    .filter((each) => !recorded.some((range) => covers(range, each)))
    .map((each) => `ServiceCIDR ${formatCidr(each)}`);
}

function covers(outer: Cidr, inner: Cidr): boolean {
  return outer.prefixLength <= inner.prefixLength && contains(outer, inner.base);
}

function servicesText({ services }: Pick<ClusterView, 'services'>): string {
  return countText(services.length, 'Service');
}
