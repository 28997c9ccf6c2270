import { kubectlLine } from './kubectl-line.ts';
import type { ServiceThere, Surroundings } from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

const HEADLESS = 'None';

/** Why a Service that exists has no row; undefined: nothing about the object tells. */
export function whyUnserved(
  service: ServiceThere,
  { from }: Pick<Surroundings, 'from'>,
): ZeroReason | undefined {
  const { namespace, name, type, externalName, clusterIPs, proxyName } = service;
  const what = `Service ${namespace}/${name}`;
  if (type === 'ExternalName') {
    return {
      cause: 'external name',
      text: `${what} is of type ExternalName: it is a DNS name for ${externalName}, and has no address to serve`,
      next: [`connect to ${externalName}`],
    };
  }
  if (clusterIPs.includes(HEADLESS)) {
    return {
      cause: 'headless',
      text: `${what} is headless (clusterIP: None): DNS gives the addresses of its pods, and no proxy serves it`,
      next: [
        kubectlLine(namespace, 'get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}`),
      ],
    };
  }
  if (proxyName !== undefined) {
    return {
      cause: 'other proxy',
      text: `${what} is for another proxy: its label service.kubernetes.io/service-proxy-name is '${proxyName}'`,
      next: [
        kubectlLine(
          namespace,
          'label',
          'service',
          name,
          'service.kubernetes.io/service-proxy-name-',
        ),
      ],
    };
  }
  if (clusterIPs.length > 0) return undefined;
  return from === 'manifests'
    ? {
        cause: 'no cluster IP',
        text: `${what} has no clusterIP in these manifests: the API server gives it one when it is created`,
        next: [
          `add a clusterIP (such as 10.96.0.10) and an EndpointSlice to the manifests, or save both from a cluster: ${kubectlLine(namespace, 'get', 'service,endpointslices', '-o', 'yaml')}`,
        ],
      }
    : {
        cause: 'no cluster IP',
        text: `${what} has no clusterIP`,
        next: [kubectlLine(namespace, 'get', 'service', name, '-o', 'yaml')],
      };
}
