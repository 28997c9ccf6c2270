import { LabError } from '../../lab/host/errors.ts';

/** One Service that is large in one direction, or several of the same. */
export interface Shape {
  readonly name: string;
  /** For the reader of the table. */
  readonly what: string;
  readonly services: number;
  readonly endpointsPerService: number;
  readonly externalIps: number;
  readonly ports: number;
  readonly sourceRanges: number;
}

/** Beside each shape there is a small cluster. */
export const BACKGROUND = { services: 100, endpointsPerService: 5 } as const;

const PLAIN = { services: 1, endpointsPerService: 5, externalIps: 0, ports: 1, sourceRanges: 0 };

export const SHAPES: readonly Shape[] = [
  {
    ...PLAIN,
    name: 'one-5000x10',
    what: '1 Service, 5,000 endpoints, 10 frontends',
    endpointsPerService: 5_000,
    externalIps: 9,
  },
  {
    ...PLAIN,
    name: '100x1000',
    what: '100 Services, 1,000 endpoints each',
    services: 100,
    endpointsPerService: 1_000,
  },
  {
    ...PLAIN,
    name: '150-external-ips',
    what: '1 Service, 150 externalIPs, 1,000 endpoints',
    endpointsPerService: 1_000,
    externalIps: 150,
  },
  {
    ...PLAIN,
    name: '12000-ranges',
    what: '1 LoadBalancer Service, 12,000 source ranges, 5 endpoints',
    sourceRanges: 12_000,
  },
  { ...PLAIN, name: '1000-ports', what: '1 Service, 1,000 ports, 5 endpoints', ports: 1_000 },
];

/** `all`, or names with commas between them; in the order of the table. */
export function parseShapes(text: string): Shape[] {
  if (text === 'all') return [...SHAPES];
  const names = text.split(',').map((part) => part.trim());
  const unknown = names.find((name) => !SHAPES.some((shape) => shape.name === name));
  if (unknown === undefined) return SHAPES.filter(({ name }) => names.includes(name));
  throw new LabError('LAB_USAGE', `there is no shape named '${unknown}'`, {
    next: `choose all, or some of: ${SHAPES.map(({ name }) => name).join(', ')}`,
  });
}
