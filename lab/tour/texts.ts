/**
 * Five public texts that explain a node proxy by hand, section by section. The chapters repeat every
 * experiment in them; a test holds the two lists together.
 */
export interface Text {
  readonly id: string;
  readonly title: string;
  readonly year: string;
}

export const TEXTS = [
  { id: 'cracking', title: 'Cracking Kubernetes Node Proxy (A. Chiao)', year: '2019' },
  { id: 'model', title: '深入理解 Kubernetes 网络模型：自己实现 kube-proxy 的功能', year: '2021' },
  { id: 'notes', title: 'Kube-proxy: userspace, iptables and ipvs mode (rlaisqls)', year: '2023' },
  { id: 'clusterip', title: 'Kube-proxy ClusterIP: iptables configurations', year: '2021' },
  { id: 'lesson', title: 'Understanding Kube-Proxy (a lesson with YAOBank)', year: '2021' },
] as const satisfies readonly Text[];

/** What each section does that a reader can repeat. */
export const SECTIONS = {
  'cracking 1.4': 'networks between hosts: routes, tunnels',
  'cracking 2.1': 'types of Services',
  'cracking 2.2': 'a ClusterIP and ping',
  'cracking 2.4': 'the rules of every Service on every node',
  'cracking 3.2': 'create the Service',
  'cracking 3.3': 'a pod answers, the ClusterIP does not',
  'cracking 4.2': 'a middleman in user space, REDIRECT',
  'cracking 4.3': 'one connection becomes two; clean up',
  'cracking 5.1': 'one DNAT rule, and the way back',
  'cracking 5.2': 'two pods with probability; scale; clean up',
  'cracking 5.3': 'from a pod to a pod on another host',
  'cracking 5.4': 'chains: KUBE-SERVICES, KUBE-SVC, KUBE-SEP',
  'cracking 6.2': 'virtual and real servers of IPVS',
  'cracking 6.3': 'round robin seen; clean up',
  'cracking 7.3': 'a program at tc, compiled and loaded',
  'cracking 7.4': 'the ClusterIP answers; clean up',
  'cracking 8.2': 'a program at connect()',
  'cracking 8.3': 'attached to a cgroup; the ClusterIP answers',
  'cracking 9': 'the five ways compared',
  'model 3': 'the Service, and the dead ClusterIP',
  'model 4': 'a proxy in user space',
  'model 5': 'a proxy by iptables',
  'model 6': 'a proxy by IPVS',
  'model 7': 'a proxy by eBPF',
  'notes userspace': 'REDIRECT and DNAT to a process',
  'notes iptables': 'the chains, with probabilities 1/3 and 1/2',
  'notes source IP': 'masquerade, Local, hairpin',
  'notes ipvs': 'the chains, virtual servers and ipsets',
  'clusterip connect': 'access by DNS name; the packets at the server',
  'clusterip rules': 'masquerade, KUBE-SVC and KUBE-SEP with counters',
  'lesson services': 'Services, endpoints and pods',
  'lesson cluster IP': 'from KUBE-SERVICES to the pod, chain by chain',
  'lesson node port': 'KUBE-NODEPORTS',
} as const;

export type SectionId = keyof typeof SECTIONS;

export const SECTION_IDS = Object.keys(SECTIONS) as readonly SectionId[];

export function titleOf(section: SectionId): string {
  const text = TEXTS.find(({ id }) => section.startsWith(`${id} `));
  return `${text?.title ?? section}, ${section.slice(section.indexOf(' ') + 1)}`;
}
