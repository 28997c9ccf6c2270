import { BRIDGE } from '../../lab/outside/hosts.ts';
import { FAIRLEAD_NAMES } from '../../lab/proxies/fairlead.ts';
import type { OutsideSabotage } from './sabotage.ts';

const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** What a machine outside must not be: a gateway, a node, or blind. */
export const outsideSabotages: readonly OutsideSabotage[] = [
  {
    name: 'outside-serves-everybody',
    title: 'the machine outside forwards for everybody that routes through it',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/neighbour-gets-nothing',
    configured: { fairlead: { clients: ['everybody'] } },
  },
  {
    name: 'outside-serves-containers',
    title: 'the machine outside serves containers that it was not told of',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/container-gets-nothing',
    configured: { fairlead: { clients: [BRIDGE] } },
  },
  {
    name: 'outside-opens-node-ports',
    title: 'the machine outside serves node ports at all of its addresses',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/node-port-not-open',
    configured: { settings: { nodePortAddresses: EVERYWHERE }, fairlead: { clients: ['eth0'] } },
  },
  {
    name: 'outside-captures-local-server',
    title: 'the machine outside takes the clients of its own server for a node port',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/local-server-on-node-port',
    configured: { settings: { nodePortAddresses: EVERYWHERE } },
  },
  {
    name: 'outside-captures-foreign-cluster-ips',
    title: 'the machine outside serves ClusterIPs of every range',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/foreign-cluster-ip-captures-nothing',
    configured: { fairlead: { servedAddresses: ['allClusterIPs'] } },
  },
  {
    name: 'outside-captures-external-ips',
    title: 'the machine outside serves the addresses that Services claim as external IPs',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/external-ip-captures-nothing',
    configured: { fairlead: { servedAddresses: ['externalIPs'] } },
  },
  {
    name: 'outside-captures-load-balancer-ips',
    title: 'the machine outside serves load-balancer IPs',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/load-balancer-ip-captures-nothing',
    configured: { fairlead: { servedAddresses: ['loadBalancerIPs'] } },
  },
  {
    name: 'outside-opens-health-port',
    title: 'the machine outside shows its health on all of its addresses',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/no-port-open',
    configured: { configuration: { healthzBindAddress: '0.0.0.0:10256' } },
  },
  {
    name: 'outside-frozen',
    title:
      'Fairlead on the machine outside is stopped (SIGSTOP) before an endpoint becomes unready',
    proxies: FAIRLEAD_NAMES,
    outside: 'outside/follows-readiness',
    isFrozen: true,
  },
];
