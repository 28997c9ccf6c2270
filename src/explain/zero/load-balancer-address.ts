import type { Remark } from '../explanation.ts';
import { kubectlLine } from './kubectl-line.ts';
import { type Known, knownOf, type ServiceThere } from './surroundings.ts';

interface Said {
  readonly remark: Remark;
  readonly next: readonly string[];
}

/** A Service of type LoadBalancer of which this node serves no load-balancer address. */
export function loadBalancerAddress(
  { namespace, service: name }: { readonly namespace: string; readonly service: string },
  read: Known<ServiceThere | undefined>,
): Said {
  const service = knownOf(read);
  const next = [kubectlLine(namespace, 'describe', 'service', name)];
  const says = (text: string): Said => ({ remark: { topic: 'load balancer', text }, next });
  if (service === undefined) {
    const why =
      'unknown' in read && read.unknown !== '' ? ` (who would: not known, ${read.unknown})` : '';
    return says(`the Service has no load-balancer address here${why}`);
  }
  const proxied = service.ingress.find(({ ip, ipMode }) => ip !== '' && ipMode === 'Proxy');
  if (proxied !== undefined) {
    return says(
      `${proxied.ip} has ipMode Proxy: connections go to the load balancer itself, and not by the rules of nodes`,
    );
  }
  const named = service.ingress.find(({ hostname }) => hostname !== '');
  if (named !== undefined) {
    return says(
      `its address is a name, ${named.hostname}: clients reach it there, and not by the rules of nodes`,
    );
  }
  const giver =
    service.loadBalancerClass === ''
      ? "the cloud's controller (cloud-controller-manager), or another for Services without a loadBalancerClass, such as MetalLB"
      : `the controller of its loadBalancerClass, ${service.loadBalancerClass}`;
  return says(`the Service has no load-balancer address yet; it comes from ${giver}`);
}
