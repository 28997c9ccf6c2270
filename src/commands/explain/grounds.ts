import type { Place } from '../../forwarding/answer/place.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { modeNamed } from '../../modes/mode-registry.ts';
import { type Basis, isPodRangeUnknown, type SourceBasis } from '../basis/basis.ts';
import {
  type Answer,
  answerOf,
  answerOfObserved,
  interfaceAddresses,
} from '../basis/basis-answer.ts';
import type { ObservedNode } from '../desired.ts';
import { ownNetworkNamespace } from '../run/describe-agent-node.ts';
import type { Row } from '../services/select-rows.ts';

/** What a question is answered from. */
export interface Grounds {
  readonly place: Place;
  /** Of the Service that was named, else all. */
  readonly rows: readonly Forwarding[];
  /** The rows of one Service, `namespace/name`, with the reasons for each endpoint. */
  details(service: string): Promise<readonly Row[]>;
}

/** `service`: the only one that matters; undefined: any. */
export async function groundsOf(basis: Basis, service: string | undefined): Promise<Grounds> {
  const wish = service === undefined ? {} : { service };
  const answer = await answerOf(basis, { wish, withCandidates: service !== undefined });
  return {
    place: await placeOf(answer, basis),
    rows: answer.rows.map(({ forwarding }) => forwarding),
    details: async (name) => {
      const of = (row: Row): boolean => isOf(row, name);
      if (basis.by !== 'agent' || service === name) return answer.rows.filter(of);
      // All rows were asked for without candidates, which an agent computes for each request.
      return (await answerOf(basis, { wish: { service: name }, withCandidates: true })).rows;
    },
  };
}

/** The same of objects that were read already. */
export async function groundsOfObserved(
  observed: ObservedNode,
  basis: SourceBasis,
): Promise<Grounds> {
  const answer = answerOfObserved(observed, {});
  return {
    place: await placeOf(answer, basis),
    rows: answer.rows.map(({ forwarding }) => forwarding),
    details: async (name) => answer.rows.filter((row) => isOf(row, name)),
  };
}

function isOf({ forwarding: { id } }: Row, name: string): boolean {
  return `${id.namespace}/${id.service}` === name;
}

async function placeOf({ view, facts }: Answer, basis: Basis): Promise<Place> {
  const { settings } = basis.config;
  const { leavesAlone, unevenChoice, madeBy } = await modeNamed(settings.mode);
  const isHere =
    basis.by === 'agent'
      ? basis.agent.networkNamespace === ownNetworkNamespace()
      : basis.isThisMachine;
  return {
    view,
    facts,
    machineAddresses: isHere ? interfaceAddresses() : [],
    ...(isPodRangeUnknown(basis, facts) ? { isPodRangeUnknown: true } : {}),
    ...(leavesAlone === undefined ? {} : { leavesAlone }),
    ...(unevenChoice === undefined ? {} : { unevenChoice: unevenChoice(settings) }),
    ...(madeBy === undefined ? {} : { madeBy: madeBy(facts) }),
  };
}
