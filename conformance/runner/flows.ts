import type { Family } from '../../lab/network/plan.ts';
import { circumstancesOf } from '../questions/ask.ts';
import { type Flow, openFlow } from '../questions/flow.ts';
import { type Circumstances, judge } from '../questions/judge.ts';
import { resolveAsker, resolveTarget } from '../questions/resolve.ts';
import { UdpFlow } from '../questions/udp.ts';
import { untilRight } from '../questions/until-right.ts';
import type { Answer, HeldFlow } from '../scenario.ts';
import type { World } from '../world.ts';

interface OpenFlow {
  readonly flow: Flow;
  readonly circumstances: Circumstances;
}

/** The connections and sockets that a scenario keeps open from one step to another. */
export class HeldFlows implements Disposable {
  readonly #open = new Map<string, OpenFlow>();

  async hold(world: World, held: HeldFlow, family: Family): Promise<string | undefined> {
    const from = resolveAsker(world, held.from, family);
    const to = resolveTarget(world, held.to, family);
    const flow = await openFlow(from, to);
    this.#open.set(keyOf(held.name, family), {
      flow,
      circumstances: circumstancesOf({ from, to, family }),
    });
    return await this.#ask(keyOf(held.name, family), held.expect);
  }

  /**
   * Asks over the held flow, again while time is granted. Only a UDP flow, which the proxy may
   * move, and a connection that is still being made can have another answer the next time.
   */
  async askHeld(held: {
    name: string;
    expect: Answer;
    family: Family;
    withinMs: number;
  }): Promise<string | undefined> {
    const key = keyOf(held.name, held.family);
    const mayChange = (): boolean => {
      const flow = this.#open.get(key)?.flow;
      return flow instanceof UdpFlow || flow?.isConnecting === true;
    };
    const { withinMs } = held;
    return await untilRight(() => this.#ask(key, held.expect), { withinMs, mayChange });
  }

  [Symbol.dispose](): void {
    for (const { flow } of this.#open.values()) flow.close();
    this.#open.clear();
  }

  async #ask(key: string, expected: Answer): Promise<string | undefined> {
    const open = this.#open.get(key);
    if (!open) throw new TypeError(`no open flow is named '${key}'`);
    const fault = judge(expected, [await open.flow.ask()], open.circumstances);
    return fault === undefined ? undefined : `held flow ${key}: ${fault}`;
  }
}

function keyOf(name: string, family: Family): string {
  return `${name}/${family}`;
}
