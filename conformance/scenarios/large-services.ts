import { FAMILIES, type Family } from '../../lab/network/plan.ts';
import type { NumberRange, Question, Scenario, SliceDeclaration } from '../scenario.ts';
import { asker, clusterIP, nodePort, on, spreadOver } from '../words.ts';

const PORTS = [{ name: '', port: 8080, protocol: 'TCP' }] as const;

/** One slice holds at most 1,000 endpoints; real controllers write 100. */
function slicesOf(of: Size): Record<string, SliceDeclaration> {
  const count = Math.ceil(of.endpoints / of.perSlice);
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      sliceName(index),
      slice(
        { from: index * of.perSlice + 1, to: Math.min(of.endpoints, (index + 1) * of.perSlice) },
        of.families,
      ),
    ]),
  );
}

function sliceName(index: number): string {
  return `part-${index}`;
}

function slice(numbers: NumberRange, families: readonly Family[] = FAMILIES): SliceDeclaration {
  return { service: 'web', ports: PORTS, families, endpoints: [{ pod: 'crowd', numbers }] };
}

const FROM_POD = { from: 'pod:near', to: clusterIP('web') };
const FROM_OUTSIDE = { from: 'client', to: nodePort('web', 2) };

function asked(
  way: Pick<Question, 'from' | 'to'>,
  { connections }: Size,
  endpoints: number,
): Question {
  return { ...way, connections, expect: spreadOver('crowd', endpoints) };
}

interface Size {
  /** Thousands of endpoints are thousands of chains to some; one family of them is enough. */
  readonly families?: readonly Family[];
  readonly endpoints: number;
  readonly perSlice: number;
  readonly left: number;
  /**
   * 600 are enough for 30 cells of 20 each; see questions/spread.ts. A proxy that takes endpoints in
   * turn, as IPVS does, is even only after all of them.
   */
  readonly connections: number;
  readonly first: Pick<Question, 'from' | 'to'>;
}

function largeService(of: Size): Scenario {
  const slices = slicesOf(of);
  const leaving = Object.keys(slices).slice(Math.ceil(of.left / of.perSlice));
  return {
    name: `large-services/${of.endpoints}-endpoints`,
    title: `A Service of ${of.endpoints.toLocaleString('en')} endpoints is spread evenly over all, and over those that are left when some go`,
    setup: { alone: true },
    ...(of.families ? { families: of.families } : {}),
    pods: { crowd: on(2, { moreAddresses: of.endpoints }), near: asker(1) },
    services: { web: { app: null, spec: { type: 'NodePort' } } },
    slices,
    steps: [
      { ask: [asked(of.first, of, of.endpoints)] },
      { change: leaving.map((name) => ({ deleteSlice: name })) },
      { ask: [asked(FROM_POD, of, of.left)] },
    ],
  };
}

export const largeServiceScenarios: readonly Scenario[] = [
  largeService({
    endpoints: 1_000,
    perSlice: 100,
    left: 900,
    connections: 1_000,
    first: FROM_OUTSIDE,
  }),
  largeService({
    families: ['ipv4'],
    endpoints: 5_000,
    perSlice: 1_000,
    left: 4_000,
    // Taken in turn by no proxy: IPVS has no lists of this size.
    connections: 600,
    first: FROM_POD,
  }),
];
