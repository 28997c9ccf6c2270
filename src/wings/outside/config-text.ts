import { stringify } from 'yaml';
import { DEFAULT_MODE, type ModeName, traitsOf } from '../../config/modes.ts';
import type { ScopeSettings } from '../../config/settings.ts';
import { KUBECONFIG_FILE } from './paths.ts';

export interface ConfigOptions {
  readonly mode: ModeName;
  /** At most one range of each family; none: not known. */
  readonly podRanges: readonly string[];
  readonly zone: string | undefined;
  /** Undefined: all Services. */
  readonly scope: ScopeSettings | undefined;
  /** Empty: not known. */
  readonly serviceRanges: readonly string[];
  /** Addresses of the DNS Service; empty: not known. */
  readonly clusterDns: readonly string[];
  /** Empty: the default. */
  readonly clusterDomain: string;
}

/** /etc/fairlead/config.conf. deploy/systemd/config.conf is this text for a usual cluster. */
export function configText(options: ConfigOptions): string {
  const isOfKubeProxy = traitsOf(options.mode).isOfKubeProxy;
  return `# /etc/fairlead/config.conf of a machine outside of the cluster: docs/outside.md.
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ${isOfKubeProxy ? options.mode : DEFAULT_MODE}
clientConnection:
  kubeconfig: ${KUBECONFIG_FILE}
${podRangesText(options)}# Do not change the machine's conntrack limits.
conntrack:
  maxPerCore: 0
  tcpEstablishedTimeout: 0s
  tcpCloseWaitTimeout: 0s
# ClusterIPs for the processes of this machine only: no node ports, health on loopback.
# A ClusterIP outside of serviceRanges is not served.
fairlead:
${isOfKubeProxy ? '' : `  mode: ${options.mode}\n`}  nodeObject: none
  # To serve containers too, name the interfaces that their packets come in by:
  # clients: [docker0, br-*]
${factsText(options)}`;
}

function podRangesText({ podRanges: ranges, mode }: ConfigOptions): string {
  if (ranges.length === 0) {
    return `# The address range of pods is not known (clusterCIDR): all connections to
# Services are masqueraded, so that answers find their way back.
${traitsOf(mode).masqueradeBlock}:
  masqueradeAll: true
`;
  }
  return `# The address range of pods. Connections of this machine come from outside of
# it and are masqueraded, so that answers find their way back.
clusterCIDR: ${ranges.join(',')}
`;
}

/** The rest of the block \`fairlead\`, as far as it differs from the defaults. */
function factsText(options: ConfigOptions): string {
  const { zone, scope, serviceRanges, clusterDns, clusterDomain } = options;
  const facts = {
    ...(zone === undefined ? {} : { zone }),
    ...(scope === undefined ? {} : { scope: scopeFields(scope) }),
    ...(serviceRanges.length === 0 ? {} : { serviceRanges }),
    ...(clusterDns.length === 0 ? {} : { clusterDNS: clusterDns }),
    ...(clusterDomain === '' ? {} : { clusterDomain }),
  };
  if (Object.keys(facts).length === 0) return '';
  return stringify({ fairlead: facts }).split('\n').slice(1).join('\n');
}

function scopeFields({ namespaces, services, serviceSelector }: ScopeSettings): object {
  return {
    ...(namespaces.length === 0 ? {} : { namespaces }),
    ...(services.length === 0 ? {} : { services }),
    ...(serviceSelector === undefined ? {} : { serviceSelector }),
  };
}
