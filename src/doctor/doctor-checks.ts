import { AGENT } from './checks/agent-answers.ts';
import { AGENT_CAPABILITIES } from './checks/agent-capabilities.ts';
import { AGENT_CONDITIONS } from './checks/agent-conditions.ts';
import { BRIDGE_NETFILTER } from './checks/bridge-netfilter.ts';
import { CONNTRACK_LOSSES, CONNTRACK_ROOM, CONNTRACK_TCP } from './checks/conntrack-checks.ts';
import { ENDPOINT_ROUTES } from './checks/endpoint-routes.ts';
import { FOREIGN_CHAINS } from './checks/foreign-chains.ts';
import { HAIRPIN } from './checks/hairpin.ts';
import { IP_FORWARD } from './checks/ip-forward.ts';
import { KERNEL_STATE } from './checks/kernel-state.ts';
import { KUBE_PROXY_LEFTOVERS } from './checks/kube-proxy-leftovers.ts';
import { MODE_SYSCTLS } from './checks/mode-sysctls.ts';
import { MTU } from './checks/mtu.ts';
import { NODE_PORT_RANGE } from './checks/node-port-range.ts';
import { NODE_PORT_SOCKETS } from './checks/node-port-sockets.ts';
import { OTHER_PROXIES } from './checks/other-proxies.ts';
import { POD_DETECTION } from './checks/pod-detection.ts';
import { MODES } from './checks/possible-modes.ts';
import { ROUTE_LOCALNET } from './checks/route-localnet-check.ts';
import { RP_FILTER } from './checks/rp-filter.ts';
import { SRC_VALID_MARK } from './checks/src-valid-mark.ts';
import type { DoctorCheck } from './doctor-check.ts';

/** All of them, in the order in which their results are shown. */
export const CHECKS: readonly DoctorCheck[] = [
  AGENT,
  AGENT_CONDITIONS,
  AGENT_CAPABILITIES,
  MODES,
  MODE_SYSCTLS,
  KERNEL_STATE,
  KUBE_PROXY_LEFTOVERS,
  OTHER_PROXIES,
  FOREIGN_CHAINS,
  IP_FORWARD,
  RP_FILTER,
  SRC_VALID_MARK,
  ROUTE_LOCALNET,
  ENDPOINT_ROUTES,
  POD_DETECTION,
  BRIDGE_NETFILTER,
  HAIRPIN,
  MTU,
  CONNTRACK_ROOM,
  CONNTRACK_LOSSES,
  CONNTRACK_TCP,
  NODE_PORT_RANGE,
  NODE_PORT_SOCKETS,
];
