import { eachEndpoint, withEach } from '../../explain/each-endpoint.ts';
import { predictionFor } from '../../explain/explain.ts';
import type { EachEndpoint, Explanation } from '../../explain/explanation.ts';
import type { Destination } from '../../forwarding/answer/destination.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import { askedFrom } from './from.ts';
import type { Grounds } from './grounds.ts';
import type { Inquiry, PredictedCase } from './inquiry.ts';

/** Endpoints of a row that get a packet of their own. */
const MOST_ENDPOINTS = 20;
/** So few are asked even where the first packet was answered: another connection may get a bad one. */
const FEW_ENDPOINTS = 4;
/** One that is silent takes seconds. */
const MOST_MS = 30_000;

/** Asks about one connection, with a packet. */
export type AskCase = (asked: PredictedCase) => Promise<Explanation>;

/** Packets straight to the endpoints, each once however many addresses lead to it. */
export class EachAsker {
  readonly #inquiry: Inquiry;
  readonly #grounds: Grounds;
  readonly #ask: AskCase;
  readonly #known = new Map<string, Explanation>();
  readonly #startedAtMs = performance.now();

  constructor(inquiry: Inquiry, grounds: Grounds, ask: AskCase) {
    this.#inquiry = inquiry;
    this.#grounds = grounds;
    this.#ask = ask;
  }

  /** The same, with its endpoints one by one where that says more. */
  async refine(whole: Explanation, { asked, prediction }: PredictedCase): Promise<Explanation> {
    if (prediction.code !== 'WOULD_REACH' || !isWanted(whole, this.#inquiry.each)) return whole;
    const { protocol } = asked.to;
    const all: EachEndpoint[] = [];
    for (const { address, port } of prediction.endpoints.slice(0, MOST_ENDPOINTS)) {
      const to: Destination = { address, port, protocol };
      const endpoint = endpointKey(to);
      const share = whole.candidates.find((each) => each.endpoint === endpoint);
      const named = { endpoint, nodeName: share?.nodeName ?? '' };
      all.push(eachEndpoint(named, await this.#direct(to)));
    }
    return withEach(whole, all);
  }

  async #direct(to: Destination): Promise<Explanation | undefined> {
    const endpoint = endpointKey(to);
    const known = this.#known.get(endpoint);
    if (known !== undefined) return known;
    if (performance.now() - this.#startedAtMs > MOST_MS) return undefined;
    const { basis, from } = this.#inquiry;
    const { place, rows } = this.#grounds;
    const asked = {
      target: endpoint,
      to,
      ...askedFrom(from, to, place),
      place,
      mode: basis.config.settings.mode,
    };
    const explained = await this.#ask({ asked, prediction: predictionFor(asked, rows) });
    this.#known.set(endpoint, explained);
    return explained;
  }
}

/** Only where packets can be sent, and where there is a choice, unless it was asked for. */
function isWanted({ code, proof, predicted }: Explanation, isAsked: boolean | undefined): boolean {
  if (proof === null || proof.kind === 'dry') return false;
  const count = predicted.endpoints?.length ?? 0;
  if (isAsked) return count > 0;
  if (count < 2) return false;
  return code === 'REACHES' ? proof.kind === 'syn' && count <= FEW_ENDPOINTS : true;
}
