import { join } from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { paths } from '../api/objects.ts';
import { LabError } from '../host/errors.ts';
import {
  enterNamespace,
  killProcessesOf,
  namespaceName,
  namespacePath,
} from '../host/namespaces.ts';
import { startDaemon } from '../host/processes.ts';
import { run } from '../host/run.ts';
import {
  type AddressPair,
  BLOCK_SIZE,
  BLOCKS_PER_NODE,
  blockAddress,
  blockCidr,
  nodeAddress,
  nodeName,
  podAddress,
} from '../network/plan.ts';
import { POD_LINK_PREFIX, type PodLink, plugPod, unplugPod } from '../network/pod-link.ts';
import type { PodNetwork } from '../network/topology.ts';
import type { NetworkVariant } from '../network/variants/contract.ts';
import { AnswerPace } from '../servers/answer-pace.ts';
import { type NetexecOptions, type ServedPort, startNetexec } from '../servers/netexec.ts';
import { plainCorefile, startCoredns } from './coredns.ts';

export interface PodPort extends ServedPort {
  /** What a Service's targetPort may name. */
  readonly name?: string;
}

/** What is wrong with a pod although it is ready. */
export type PodFault =
  /** It listens on none of its ports: connections are refused. */
  | 'closed'
  /** It drops every packet, as if its node had lost power. */
  | 'unreachable'
  /** It answers a connection after the other pods of its namespace have answered so many more. */
  | { readonly slowerBy: number };

export interface PodSpec {
  readonly namespace: string;
  readonly name: string;
  readonly nodeIndex: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly PodPort[];
  readonly ready: boolean;
  /** Uses the node's own addresses instead of a namespace of its own. */
  readonly hostNetwork: boolean;
  /** MTU of the node's route to it, where it is to be narrower than the links. */
  readonly pathMtu?: number | undefined;
  /** How many addresses it has besides its own; all answer, as `NAME#1`, `NAME#2` and so on. */
  readonly moreAddresses?: number | undefined;
  /**
   * `own` serves from this process; `agnhost` is upstream's program and outlives it; `coredns` is the
   * cluster's DNS server, which reaches the API server only from the network of its node.
   */
  readonly server: 'own' | 'agnhost' | 'coredns';
  /** Of one with an own server and a namespace of its own. */
  readonly fault?: PodFault | undefined;
}

export interface KubeletContext {
  readonly lab: string;
  readonly api: ApiClient;
  readonly podNetwork: PodNetwork;
  readonly network: NetworkVariant;
  readonly logFolder: string;
  readonly agnhost: string;
  /** Where pods may run it. */
  readonly coredns?: { readonly kubeconfig: string; program(): Promise<string> };
  /** The last address in use on each node, where another process has run pods before. */
  readonly lastHosts?: ReadonlyMap<number, number>;
}

/** A pod that another process runs: what is known of it from the API. */
export interface RunningPod extends Pick<PodSpec, 'namespace' | 'name' | 'nodeIndex'> {
  readonly host: number;
}

export interface Pod {
  readonly spec: PodSpec;
  readonly address: AddressPair;
  readonly namespacePath: string;
  /** Its `moreAddresses` by number, from 1; undefined where it has none of that number. */
  numbered(number: number): AddressPair | undefined;
  setReady(ready: boolean): Promise<void>;
  /** Asks for deletion with a grace period: the pod is terminating until it is removed. */
  terminate(graceSeconds: number): Promise<void>;
  /** Stops serving and deletes the object, at once. */
  remove(): Promise<void>;
}

/** Plays the kubelet for the pods of a lab: namespaces and servers here, objects in the API. */
export class PodRunner implements AsyncDisposable {
  readonly #context: KubeletContext;
  readonly #lastHost: Map<number, number>;
  readonly #nextBlock = new Map<number, number>();
  readonly #servers = new Set<AsyncDisposable>();
  /** By Kubernetes namespace. */
  readonly #paces = new Map<string, AnswerPace>();

  constructor(context: KubeletContext) {
    this.#context = context;
    this.#lastHost = new Map(context.lastHosts);
  }

  async run(spec: PodSpec): Promise<Pod> {
    const place = spec.hostNetwork ? this.#onHost(spec) : await this.#plug(spec);
    const server = await this.#serve(spec, place);
    await this.#announce(spec, place.address);
    const { api } = this.#context;
    const path = paths.pod(spec.namespace, spec.name);
    return {
      spec,
      address: place.address,
      namespacePath: place.namespacePath,
      numbered: (number) => place.numbered[number - 1],
      setReady: (ready) =>
        api.patch(
          `${path}/status`,
          { status: { conditions: conditions(ready) } },
          'strategic-merge',
        ),
      terminate: (graceSeconds) => api.delete(path, { gracePeriodSeconds: graceSeconds }),
      remove: async () => {
        await api.delete(path, { gracePeriodSeconds: 0 });
        await this.#stop(server);
        await place.unplug();
      },
    };
  }

  /** Ends a pod of another process: its object, its programs and its namespace. */
  async end(pod: RunningPod): Promise<void> {
    const { api, lab } = this.#context;
    await api.delete(paths.pod(pod.namespace, pod.name), { gracePeriodSeconds: 0 });
    const link = this.#link(pod, pod.host);
    await killProcessesOf(namespaceName({ lab, role: link.role }));
    await unplugPod(link);
  }

  /** Closes the servers of this process; namespaces and programs go with the lab. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers].map((server) => this.#stop(server)));
  }

  async #stop(server: AsyncDisposable): Promise<void> {
    this.#servers.delete(server);
    await server[Symbol.asyncDispose]();
  }

  #onHost(spec: PodSpec): Place {
    return {
      address: nodeAddress(spec.nodeIndex),
      namespacePath: namespacePath({ lab: this.#context.lab, role: nodeName(spec.nodeIndex) }),
      numbered: [],
      unplug: async () => undefined,
    };
  }

  #link(of: Pick<PodSpec, 'namespace' | 'name' | 'nodeIndex'>, host: number): PodLink {
    const { lab, podNetwork, network } = this.#context;
    return {
      lab,
      podNetwork,
      network,
      nodeIndex: of.nodeIndex,
      role: `${of.namespace}-${of.name}`,
      linkName: `${POD_LINK_PREFIX}${host}`,
      address: podAddress(of.nodeIndex, host),
    };
  }

  async #plug(spec: PodSpec): Promise<Place> {
    // Host 1 is the gateway.
    const host = (this.#lastHost.get(spec.nodeIndex) ?? 1) + 1;
    this.#lastHost.set(spec.nodeIndex, host);
    const block = this.#takeBlock(spec);
    const link = {
      ...this.#link(spec, host),
      pathMtu: spec.pathMtu,
      block: block === undefined ? undefined : blockCidr(spec.nodeIndex, block),
    };
    await plugPod(link);
    return {
      address: link.address,
      namespacePath: namespacePath({ lab: link.lab, role: link.role }),
      numbered: Array.from({ length: spec.moreAddresses ?? 0 }, (_, index) =>
        blockAddress(spec.nodeIndex, block ?? 0, index + 1),
      ),
      unplug: () => unplugPod(link),
    };
  }

  #takeBlock({ nodeIndex, moreAddresses }: PodSpec): number | undefined {
    if (moreAddresses === undefined) return undefined;
    const block = this.#nextBlock.get(nodeIndex) ?? 0;
    if (moreAddresses > BLOCK_SIZE || block >= BLOCKS_PER_NODE) {
      throw new LabError('LAB_USAGE', `cannot give a pod ${moreAddresses} more addresses`, {
        next: `ask for at most ${BLOCK_SIZE}, for at most ${BLOCKS_PER_NODE} pods of a node`,
      });
    }
    this.#nextBlock.set(nodeIndex, block + 1);
    return block;
  }

  async #serve(spec: PodSpec, place: Place): Promise<AsyncDisposable> {
    const path = place.namespacePath;
    if (spec.server === 'own') {
      const { fault } = spec;
      if (fault === 'unreachable') await dropEverything(path);
      const serve = {
        namespacePath: path,
        hostname: hostnameOf(spec, place),
        ports: typeof fault === 'string' ? [] : spec.ports,
        ownAddresses: Object.values(place.address),
        ...this.#pacing(spec),
      };
      const server = await startNetexec(serve);
      this.#servers.add(server);
      return server;
    }
    if (spec.server === 'coredns') return await this.#serveNames(spec, place);
    const daemon = startDaemon({
      name: spec.name,
      namespacePath: path,
      argv: agnhostArguments(spec, this.#context.agnhost),
      logFile: join(this.#context.logFolder, `${spec.namespace}-${spec.name}.log`),
    });
    return { [Symbol.asyncDispose]: () => daemon.stop() };
  }

  #pacing({ namespace, fault }: PodSpec): Pick<NetexecOptions, 'beforeAnswers' | 'onConnection'> {
    const pace = this.#paces.get(namespace) ?? new AnswerPace();
    this.#paces.set(namespace, pace);
    if (typeof fault !== 'object') return { onConnection: () => pace.note() };
    return { beforeAnswers: () => pace.after(fault.slowerBy) };
  }

  async #serveNames(spec: PodSpec, { namespacePath: path }: Place): Promise<AsyncDisposable> {
    const { coredns, logFolder } = this.#context;
    if (coredns === undefined || !spec.hostNetwork) {
      throw new LabError('LAB_USAGE', 'CoreDNS runs on the network of a node of a whole lab', {
        next: 'give the pod hostNetwork',
      });
    }
    const daemon = await startCoredns({
      program: await coredns.program(),
      namespacePath: path,
      corefile: plainCorefile(coredns.kubeconfig),
      name: `${spec.namespace}-${spec.name}`,
      logFolder,
    });
    return { [Symbol.asyncDispose]: () => daemon.stop() };
  }

  async #announce(spec: PodSpec, address: AddressPair): Promise<void> {
    const { api } = this.#context;
    await api.create(paths.pods(spec.namespace), podObject(spec));
    await api.patch(
      `${paths.pod(spec.namespace, spec.name)}/status`,
      { status: podStatus(spec, address) },
      'strategic-merge',
    );
  }
}

interface Place {
  readonly address: AddressPair;
  readonly namespacePath: string;
  readonly numbered: readonly AddressPair[];
  unplug(): Promise<void>;
}

/** All but neighbour discovery, without which its node would report it as unreachable. */
async function dropEverything(namespacePath: string): Promise<void> {
  const ruleset = `table inet lab-fault {
    chain every-packet {
      type filter hook prerouting priority raw;
      meta l4proto { tcp, udp, sctp } drop
    }
  }`;
  await run(enterNamespace(namespacePath, ['nft', '-f', '-']), { input: ruleset });
}

function hostnameOf(spec: PodSpec, place: Place): NetexecOptions['hostname'] {
  if (place.numbered.length === 0) return spec.name;
  const numbers = new Map(
    place.numbered.flatMap(({ ipv4, ipv6 }, index) => [
      [ipv4, index + 1],
      [ipv6, index + 1],
    ]),
  );
  return (localAddress) => {
    const number = numbers.get(localAddress);
    return number === undefined ? spec.name : `${spec.name}#${number}`;
  };
}

/** netexec answers with its host name, so each pod gets a UTS namespace with its own. */
function agnhostArguments(spec: PodSpec, agnhost: string): [string, ...string[]] {
  const portOf = (protocol: string): number =>
    spec.ports.find((port) => port.protocol === protocol)?.port ?? -1;
  return [
    ...(['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', spec.name] as const),
    agnhost,
    'netexec',
    `--http-port=${portOf('TCP')}`,
    `--udp-port=${portOf('UDP')}`,
  ];
}

function podObject(spec: PodSpec): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: spec.name, labels: spec.labels },
    spec: {
      nodeName: nodeName(spec.nodeIndex),
      hostNetwork: spec.hostNetwork,
      containers: [
        {
          name: 'netexec',
          image: 'registry.k8s.io/e2e-test-images/agnhost:2.66.1',
          ports: spec.ports.map(({ name, port, protocol }) => ({
            ...(name === undefined ? {} : { name }),
            containerPort: port,
            protocol,
          })),
        },
      ],
    },
  };
}

function podStatus(spec: PodSpec, address: AddressPair): object {
  const hostAddress = nodeAddress(spec.nodeIndex);
  return {
    phase: 'Running',
    podIP: address.ipv4,
    podIPs: [{ ip: address.ipv4 }, { ip: address.ipv6 }],
    hostIP: hostAddress.ipv4,
    hostIPs: [{ ip: hostAddress.ipv4 }, { ip: hostAddress.ipv6 }],
    conditions: conditions(spec.ready),
  };
}

function conditions(ready: boolean): object[] {
  const status = ready ? 'True' : 'False';
  return [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', status },
    { type: 'Ready', status },
  ];
}
