import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { paths, type Service } from '../api/objects.ts';
import { ipBatch, namespaceName } from '../host/namespaces.ts';
import type { Daemon } from '../host/processes.ts';
import { type Progress, silentProgress } from '../host/progress.ts';
import { startCoredns } from '../kubelet/coredns.ts';
import type { Lab } from '../lab.ts';
import { nodeAddress, podCidr } from '../network/plan.ts';
import { provideCoredns } from '../parts/real.ts';
import { DNS_DOMAIN } from '../real/plan.ts';

export interface CoreDnsOptions {
  /** A name outside of the cluster's domain for which it has an answer too, and that answer. */
  readonly other: { readonly name: string; readonly address: string };
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** The cluster's DNS: CoreDNS in a pod behind the Service kube-system/kube-dns. */
export interface CoreDns {
  /** One for each family, IPv4 first. */
  readonly serviceAddresses: readonly string[];
  /** The process: `kill` it, or `freeze` it to make it silent. */
  readonly daemon: Daemon;
  /** Every name that it was asked for, in order, without the dot at the end. */
  askedNames(): Promise<readonly string[]>;
}

/** It serves the same names below this one too: systemd-resolved treats names below `local` apart. */
export const SECOND_DOMAIN = 'cluster.example';
const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': 'kube-dns' };
const NAME = 'coredns';

export async function startCoreDns(lab: Lab, options: CoreDnsOptions): Promise<CoreDns> {
  const { progress = silentProgress, signal } = options;
  const coredns = await provideCoredns({ progress, signal });
  await letPodsReachApiServer(lab);
  const pod = await lab.pods.run({
    namespace: NAMESPACE,
    name: NAME,
    nodeIndex: 1,
    labels: LABELS,
    ports: [],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  const daemon = await startCoredns({
    program: coredns,
    namespacePath: pod.namespacePath,
    corefile: corefileText(lab, options.other),
    name: NAME,
    logFolder: join(lab.folder, 'logs'),
    signal,
  });
  const service = await lab.api.create<Service>(paths.services(NAMESPACE), dnsService());
  const logFile = join(lab.folder, 'logs', `${NAME}.log`);
  return {
    serviceAddresses: service.spec.clusterIPs ?? [],
    daemon,
    askedNames: async () => namesIn(await readFile(logFile, 'utf8')),
  };
}

/** Answers of the API server find back to pods: the lab's fabric knows no way to them otherwise. */
async function letPodsReachApiServer({ name }: Lab): Promise<void> {
  const [range, via] = [podCidr(1), nodeAddress(1)];
  const lines = [
    `route add ${range.ipv4} via ${via.ipv4}`,
    `route add ${range.ipv6} via ${via.ipv6}`,
  ];
  await ipBatch(lines, namespaceName({ lab: name, role: 'fabric' }));
}

/** As kubeadm has it; in place of the servers that it forwards other names to, one answer. */
function corefileText(lab: Lab, other: CoreDnsOptions['other']): string {
  return `.:53 {
  errors
  log
  ready
  kubernetes ${DNS_DOMAIN} ${SECOND_DOMAIN} in-addr.arpa ip6.arpa {
    kubeconfig ${lab.credentials.adminKubeconfig}
    pods insecure
    ttl 5
  }
  hosts {
    ${other.address} ${other.name}
    ttl 1
    no_reverse
    fallthrough
  }
}
`;
}

function dnsService(): object {
  return {
    metadata: { name: 'kube-dns', labels: LABELS },
    spec: {
      selector: LABELS,
      ipFamilyPolicy: 'RequireDualStack',
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  };
}

/** `[INFO] 172.30.3.254:53 - 7 "A IN web.default.svc.cluster.local. udp 51 false 512" NOERROR …` */
function namesIn(log: string): string[] {
  return [...log.matchAll(/ - \d+ "\S+ \S+ (\S+)\. /g)].map((match) => match[1] ?? '');
}
