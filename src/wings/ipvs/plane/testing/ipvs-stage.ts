import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../../forwarding/model.ts';
import { servicePortKey } from '../../../../forwarding/model.ts';
import type { IpvsWrite } from '../../../../linux/ipvs/ipvs-model.ts';
import { IpvsPlane } from '../ipvs-plane.ts';
import { FACTS } from './ipvs-rows.ts';
import { MemoryCapture } from './memory-capture.ts';
import { MemoryIpvs } from './memory-ipvs.ts';

/** The virtual server of `row()`. */
export const ID = '10.96.0.1 TCP 80';

/** A plane in memory, and everything that it writes, in its order. */
export class Stage {
  readonly written: string[] = [];
  readonly warnings: string[] = [];
  readonly ipvs: MemoryIpvs;
  readonly capture: MemoryCapture;
  readonly plane: IpvsPlane;
  /** Virtual servers that kube-proxy has taken. */
  readonly taken = new Set<string>();

  /** `of`: another process in the same kernel. */
  constructor(
    parts: {
      ipvs?: MemoryIpvs;
      capture?: MemoryCapture;
      readonly rowsAtOnce?: number;
      readonly mostWeight?: number;
    } = {},
  ) {
    this.ipvs = parts.ipvs ?? new MemoryIpvs();
    this.capture = parts.capture ?? new MemoryCapture();
    this.ipvs.isRejected = (write) => {
      this.written.push(textOf(write));
      return false;
    };
    this.capture.isRejected = (change) => {
      this.written.push(...Object.keys(change));
      return false;
    };
    this.plane = new IpvsPlane({
      ipvs: this.ipvs,
      capture: this.capture,
      scheduler: { name: 'rr', flags: [] },
      timeouts: () => ({ tcpSeconds: 0, tcpFinSeconds: 0, udpSeconds: 0 }),
      prepare: async () => undefined,
      servedByKubeProxy: async () => this.taken,
      onWarning: (message) => this.warnings.push(message),
      ...(parts.rowsAtOnce === undefined ? {} : { rowsAtOnce: parts.rowsAtOnce }),
      ...(parts.mostWeight === undefined ? {} : { mostWeight: parts.mostWeight }),
    });
  }

  async start(rows: readonly Forwarding[] = []): Promise<this> {
    const { right } = await this.plane.inspect({ facts: FACTS, rows }, 'everything');
    const wrong = rows.filter(({ id }) => !right.has(servicePortKey(id)));
    await this.plane.apply(wrong.map((each) => change('unknown', each)));
    this.written.length = 0;
    return this;
  }

  weights(id = ID): Record<string, number> {
    const held = [...(this.ipvs.held.get(id)?.destinations ?? [])];
    return Object.fromEntries(held.map(([name, { destination }]) => [name, destination.weight]));
  }
}

export function serving(...numbers: readonly number[]): Record<string, number> {
  return Object.fromEntries(numbers.map((number) => [`10.244.1.${number} 8080`, 1]));
}

export function textOf(write: IpvsWrite): string {
  if (!('destination' in write)) return write.do;
  const { address, weight } = write.destination;
  return `${write.do} ${address.split('.').at(-1)} ${weight}`;
}
