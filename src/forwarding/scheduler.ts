/** How IPVS chooses an endpoint for a new connection. Only mode ipvs reads it. */
export interface Scheduler {
  /** As the kernel names it. */
  readonly name: string;
  /** Sorted; only `sh` and `mh` have some. */
  readonly flags: readonly string[];
  /** Of every endpoint. Undefined: 1. */
  readonly weight?: number;
}

/** What a Service's annotation says: a scheduler, or why its value cannot be used. */
export type SchedulerWish = { readonly scheduler: Scheduler } | { readonly fault: string };

export const SCHEDULER_ANNOTATION = 'fairlead.dev/ipvs-scheduler';

interface SchedulerTraits {
  readonly flags: readonly string[];
  /** The flag without which clients of a draining endpoint (weight 0) are rejected. Always set. */
  readonly fallback?: string;
  /** Rejects clients while the endpoint of their hash has weight 0, and has no such flag. */
  readonly cannotDrain?: true;
  /** The weight limits the connections of an endpoint: 1 would leave most clients without any. */
  readonly weightIsLimit?: true;
}

const PLAIN: SchedulerTraits = { flags: [] };

const SCHEDULERS: Readonly<Record<string, SchedulerTraits>> = {
  rr: PLAIN,
  wrr: PLAIN,
  lc: PLAIN,
  wlc: PLAIN,
  lblc: PLAIN,
  lblcr: PLAIN,
  dh: { flags: [], cannotDrain: true },
  sh: { flags: ['sh-fallback', 'sh-port'], fallback: 'sh-fallback' },
  mh: { flags: ['mh-fallback', 'mh-port'], fallback: 'mh-fallback' },
  sed: PLAIN,
  nq: PLAIN,
  fo: PLAIN,
  ovf: { flags: [], weightIsLimit: true },
  twos: PLAIN,
};

export const SCHEDULER_NAMES: readonly string[] = Object.keys(SCHEDULERS);

/** The kernel keeps weights in 31 bits, and some schedulers multiply them. */
const MOST_WEIGHT = 65_535;

/**
 * The scheduler of Services without an annotation. kube-proxy sets the flag for ports with `mh`, so
 * that a client with many connections reaches many endpoints.
 */
export function defaultScheduler(name: string): Scheduler {
  return { name, flags: [...fallbackOf(name), ...(name === 'mh' ? ['mh-port'] : [])] };
}

/** Whether an endpoint that leaves may keep its connections with weight 0; else delete it at once. */
export function canDrain({ name }: Scheduler): boolean {
  return SCHEDULERS[name]?.cannotDrain !== true;
}

function fallbackOf(name: string): readonly string[] {
  const fallback = SCHEDULERS[name]?.fallback;
  return fallback === undefined ? [] : [fallback];
}

/** Reads `name[,flag…][,weight=N]`, such as `mh,mh-port` or `ovf,weight=100`. */
export function parseScheduler(value: string): SchedulerWish {
  const [name = '', ...options] = value.split(',').map((part) => part.trim());
  const traits = Object.hasOwn(SCHEDULERS, name) ? SCHEDULERS[name] : undefined;
  if (traits === undefined) {
    return { fault: `${quote(name)} is not one of ${SCHEDULER_NAMES.join(', ')}` };
  }
  const flags = new Set<string>(fallbackOf(name));
  let weight: number | undefined;
  for (const option of options) {
    if (traits.flags.includes(option)) flags.add(option);
    else if (option.startsWith('weight=')) {
      weight = readWeight(option.slice('weight='.length));
      if (weight === undefined) return { fault: `weight must be from 1 to ${MOST_WEIGHT}` };
    } else return { fault: unknownOption(option, { name, traits }) };
  }
  if (traits.weightIsLimit && weight === undefined) {
    return {
      fault: `${name} needs a weight, the connections that an endpoint gets before the next one, such as ${name},weight=100`,
    };
  }
  const scheduler = { name, flags: [...flags].sort() };
  return { scheduler: weight === undefined ? scheduler : { ...scheduler, weight } };
}

export function equalSchedulers(a: Scheduler | undefined, b: Scheduler | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.name === b.name && a.weight === b.weight && a.flags.join() === b.flags.join();
}

/** `mh,mh-port`: as the annotation is written. */
export function schedulerText({ name, flags, weight }: Scheduler): string {
  return [name, ...flags, ...(weight === undefined ? [] : [`weight=${weight}`])].join(',');
}

function readWeight(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined;
  const weight = Number(text);
  return weight <= MOST_WEIGHT ? weight : undefined;
}

function unknownOption(
  option: string,
  { name, traits }: { name: string; traits: SchedulerTraits },
): string {
  if (traits.flags.length === 0) return `${name} has no flags, and ${quote(option)} is given`;
  return `${quote(option)} is not a flag of ${name}, which has ${traits.flags.join(' and ')}`;
}

const LONGEST_QUOTE = 40;

/** Anybody who may write a Service chooses this text, and it is printed to terminals and logs. */
function quote(text: string): string {
  const plain = text.replaceAll(/[^\x20-\x7e]/g, '?');
  const short = plain.length > LONGEST_QUOTE ? `${plain.slice(0, LONGEST_QUOTE)}...` : plain;
  return JSON.stringify(short);
}
