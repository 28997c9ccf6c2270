import { paths, type Service } from '../../lab/api/objects.ts';
import { until } from '../../lab/host/until.ts';
import { tellZone } from '../../lab/kubelet/nodes.ts';
import { FAMILIES, type Family, nodeName, zoneOf } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import type { GateOptions } from './gate.ts';
import { sideAnswers } from './side-answers.ts';

const NAME = 'conformance-nodes';
const PORT = 80;
const OTHER_ZONE = 'barrier';

/**
 * The barrier for Nodes: the zone of each is changed, and then restored. A Service whose
 * endpoints have hints for one of the two shows which of them its proxy knows, and with it every
 * earlier change of the Node. Nodes are shared, so scenarios that change them run alone.
 */
export class NodeGate {
  readonly #options: GateOptions;
  #service: Service | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  async pass(): Promise<void> {
    this.#service ??= await this.#create();
    await this.#reachedEverywhere(0);
    for (const side of [1, 0]) {
      await this.#tellZones(side);
      await this.#reachedEverywhere(side);
    }
  }

  async #create(): Promise<Service> {
    const { lab, namespace } = this.#options;
    const service = await lab.api.create<Service>(paths.services(namespace), {
      metadata: { name: NAME },
      spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: PORT }] },
    });
    for (const family of FAMILIES) {
      for (const side of [0, 1]) {
        await lab.api.create(paths.slices(namespace), this.#slice(family, side));
      }
    }
    return service;
  }

  #slice(family: Family, side: number): object {
    const pod = this.#options.sides[side];
    const ownZones = nodeIndexes(this.#options.lab).map(zoneOf);
    const zones = side === 0 ? [...new Set(ownZones)] : [OTHER_ZONE];
    const hints = { forZones: zones.map((name) => ({ name })) };
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${NAME}-${family}-${side}`,
        labels: { 'kubernetes.io/service-name': NAME },
      },
      addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
      ports: [{ name: '', port: pod?.spec.ports[0]?.port, protocol: 'TCP' }],
      endpoints: [{ addresses: [pod?.address[family]], conditions: { ready: true }, hints }],
    };
  }

  async #tellZones(side: number): Promise<void> {
    const { lab } = this.#options;
    for (const index of nodeIndexes(lab)) {
      await tellZone(lab.api, index, side === 0 ? zoneOf(index) : OTHER_ZONE);
    }
  }

  async #reachedEverywhere(side: number): Promise<void> {
    const { lab, deadlineMs } = this.#options;
    await Promise.all(
      nodeIndexes(lab).flatMap((index) =>
        (this.#service?.spec.clusterIPs ?? []).map((address) => {
          const node = nodeName(index);
          const to = { address, port: PORT };
          return until(() => sideAnswers(lab.namespacePath(node), to, side), {
            what: `the proxy of ${node} to hear of its Node (${address})`,
            deadlineMs,
          });
        }),
      ),
    );
  }
}
