import type { PagedRow } from '../../agent/servers/row-parts.ts';
import { frontendText } from '../../commands/services/select-rows.ts';
import type { Candidate } from '../../forwarding/candidates.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import {
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortKey,
  servicePortName,
} from '../../forwarding/model.ts';
import { notServedText } from '../../forwarding/not-served-text.ts';
import type { EndpointFigures } from '../top/traffic-figures.ts';
import { type Gathered, serviceFigures } from '../top/traffic-rows.ts';
import type {
  EndpointAnswer,
  FrontendAnswer,
  KernelState,
  OutcomeAnswer,
  ServicePortAnswer,
} from './protocol/service-page.ts';
import { rounded } from './rounding.ts';

const MOST_ENDPOINTS = 300;
/** Of those that get no connections, so that the others have room too. */
const MOST_UNSELECTED = 100;

/** One port of a Service. `gathered`: the figures of the last tick, if there was one. */
export function servicePortAnswer(
  { forwarding, candidates = [], kernel }: PagedRow,
  gathered: Gathered | undefined,
): ServicePortAnswer {
  const figures = gathered && serviceFigures(gathered, servicePortKey(forwarding.id));
  const known = new Map(figures?.endpoints.map((each) => [each.endpoint, each]));
  const endpoints = candidates.map((each) => endpointAnswer(each, known));
  const { id, frontends, affinitySeconds } = forwarding;
  return {
    name: servicePortName(id),
    protocol: id.protocol,
    family: id.family,
    affinitySeconds,
    frontends: frontends.map((frontend) => frontendAnswer(frontend, forwarding)),
    ...(kernel === undefined ? {} : { kernel: kernelState(kernel) }),
    ...ratesOf(figures),
    endpoints: shownEndpoints(endpoints),
    endpointCount: endpoints.length,
    selectedCount: endpoints.filter(isSelected).length,
  };
}

function ratesOf(figures: ReturnType<typeof serviceFigures> | undefined) {
  const { newPerSecond, rejectedPerSecond, droppedPerSecond, live } = figures ?? {};
  return {
    ...(newPerSecond === undefined ? {} : { newPerSecond: rounded(newPerSecond) }),
    ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond: rounded(rejectedPerSecond) }),
    ...(droppedPerSecond === undefined ? {} : { droppedPerSecond: rounded(droppedPerSecond) }),
    ...(live === undefined ? {} : { live }),
  };
}

function kernelState(state: NonNullable<PagedRow['kernel']>): KernelState {
  if (state.is === 'applied') return { is: 'applied' };
  const { is, forMs } = state;
  return is === 'rejected' ? { is, forMs, error: state.error.message } : { is, forMs };
}

function frontendAnswer(frontend: Frontend, { id }: Forwarding): FrontendAnswer {
  const { kind, address, port, outcomes, allowedSources, notServed } = frontend;
  const suffix = id.protocol === 'TCP' ? '' : `/${id.protocol.toLowerCase()}`;
  return {
    kind,
    at: frontendText(frontend),
    ...(address === '' ? {} : { target: `${endpointKey({ address, port })}${suffix}` }),
    port,
    ...(allowedSources === undefined ? {} : { allowedSources }),
    ...(notServed === undefined ? {} : { notServed: notServedText(notServed) }),
    outcomes: {
      pod: outcomeAnswer(outcomes.pod),
      host: outcomeAnswer(outcomes.host),
      outside: outcomeAnswer(outcomes.outside),
    },
  };
}

function outcomeAnswer(outcome: Outcome): OutcomeAnswer {
  if (outcome.action !== 'forward') return { action: outcome.action };
  const { action, list, masquerade } = outcome;
  return { action, list, masquerade };
}

function endpointAnswer(
  candidate: Candidate,
  known: ReadonlyMap<string, EndpointFigures>,
): EndpointAnswer {
  const { nodeName, local, state, verdicts } = candidate;
  const endpoint = endpointKey(candidate);
  const selected = {
    cluster: verdicts.cluster === 'selected',
    local: verdicts.local === 'selected',
  };
  const figures = known.get(endpoint);
  return {
    endpoint,
    nodeName,
    isHere: local,
    state,
    selected,
    ...(selected.cluster || selected.local ? {} : { because: reasonOf(candidate) }),
    ...(figures === undefined ? {} : figuresOf(figures)),
  };
}

function reasonOf({ verdicts }: Candidate): string {
  return verdicts.cluster === 'list not used' ? verdicts.local : verdicts.cluster;
}

function figuresOf({ connections, newPerSecond, share, live }: EndpointFigures) {
  return {
    connections,
    ...(newPerSecond === undefined ? {} : { newPerSecond: rounded(newPerSecond) }),
    ...(share === undefined ? {} : { share: Math.round(share * 10_000) / 10_000 }),
    ...(live === undefined ? {} : { live }),
  };
}

function isSelected({ selected }: EndpointAnswer): boolean {
  return selected.cluster || selected.local;
}

/** Some that get none, then the busiest. */
function shownEndpoints(all: readonly EndpointAnswer[]): readonly EndpointAnswer[] {
  const without = all.filter((each) => !isSelected(each)).slice(0, MOST_UNSELECTED);
  const busiest = all
    .filter(isSelected)
    .sort((a, b) => (b.newPerSecond ?? 0) - (a.newPerSecond ?? 0) || byText(a, b))
    .slice(0, MOST_ENDPOINTS - without.length);
  return [...without, ...busiest];
}

function byText({ endpoint: a }: EndpointAnswer, { endpoint: b }: EndpointAnswer): number {
  return a < b ? -1 : 1;
}
