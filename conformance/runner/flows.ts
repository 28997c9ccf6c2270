import { setTimeout as delay } from 'node:timers/promises';
import type { Family } from '../../lab/network/plan.ts';
import { circumstancesOf } from '../questions/ask.ts';
import { type Circumstances, judge } from '../questions/judge.ts';
import { resolveAsker, resolveTarget } from '../questions/resolve.ts';
import { TcpFlow } from '../questions/tcp.ts';
import { UdpFlow } from '../questions/udp.ts';
import type { Answer, HeldFlow } from '../scenario.ts';
import type { World } from '../world.ts';

interface OpenFlow {
  readonly flow: TcpFlow | UdpFlow;
  readonly circumstances: Circumstances;
}

const BETWEEN_ATTEMPTS_MS = 100;

/** The connections and sockets that a scenario keeps open from one step to another. */
export class HeldFlows implements Disposable {
  readonly #open = new Map<string, OpenFlow>();

  async hold(world: World, held: HeldFlow, family: Family): Promise<string | undefined> {
    const from = resolveAsker(world, held.from, family);
    const to = resolveTarget(world, held.to, family);
    const flow =
      to.protocol === 'UDP' ? await UdpFlow.open(from.origin, to) : new TcpFlow(from.origin, to);
    this.#open.set(keyOf(held.name, family), {
      flow,
      circumstances: circumstancesOf({ from, to, family }),
    });
    return await this.#ask(keyOf(held.name, family), held.expect);
  }

  /**
   * Asks over the held flow. A UDP flow may be moved by the proxy, and a connection that is still
   * being made may be made by its next SYN: both are asked until right.
   */
  async askHeld(held: {
    name: string;
    expect: Answer;
    family: Family;
    deadlineMs: number;
  }): Promise<string | undefined> {
    const key = keyOf(held.name, held.family);
    const giveUpAt = performance.now() + held.deadlineMs;
    for (;;) {
      const fault = await this.#ask(key, held.expect);
      const flow = this.#open.get(key)?.flow;
      const mayChange = flow instanceof UdpFlow || flow?.isConnecting === true;
      if (fault === undefined || !mayChange || performance.now() > giveUpAt) return fault;
      await delay(BETWEEN_ATTEMPTS_MS);
    }
  }

  [Symbol.dispose](): void {
    for (const { flow } of this.#open.values()) flow.close();
    this.#open.clear();
  }

  async #ask(key: string, expected: Answer): Promise<string | undefined> {
    const open = this.#open.get(key);
    if (!open) throw new TypeError(`no flow is held as '${key}'`);
    const fault = judge(expected, [await open.flow.ask()], open.circumstances);
    return fault === undefined ? undefined : `held flow ${key}: ${fault}`;
  }
}

function keyOf(name: string, family: Family): string {
  return `${name}/${family}`;
}
