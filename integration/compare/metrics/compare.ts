import { isDeepStrictEqual } from 'node:util';
import type { MetricFamily } from './families.ts';
import { LEFT_OUT } from './left-out.ts';

export interface Comparison {
  /** Names that are the same in type, labels and bounds. */
  readonly same: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** In words; empty when everything is as it should be. */
  readonly faults: readonly string[];
}

type Families = ReadonlyMap<string, MetricFamily>;

/** Holds what Fairlead shows against what kube-proxy shows. */
export function compareFamilies(theirs: Families, ours: Families): Comparison {
  const same: string[] = [];
  const leftOut: { name: string; why: string }[] = [];
  const faults: string[] = [];
  for (const [name, their] of theirs) {
    const our = ours.get(name);
    const reason = LEFT_OUT.find(({ names }) => names.test(name));
    if (our === undefined) {
      if (reason === undefined) faults.push(`${name}: kube-proxy has it, Fairlead has not`);
      else leftOut.push({ name, why: reason.why });
      continue;
    }
    if (reason !== undefined) faults.push(`${name}: is there, and listed as left out`);
    const differing = differences(their, our);
    if (differing.length === 0) same.push(name);
    faults.push(...differing.map((difference) => `${name}: ${difference}`));
  }
  return { same: same.sort(), leftOut, faults };
}

function differences(their: MetricFamily, our: MetricFamily): string[] {
  const found: string[] = [];
  const compare = (what: 'type' | 'labels' | 'buckets'): void => {
    if (isDeepStrictEqual(their[what], our[what])) return;
    found.push(`${what}: kube-proxy has ${String(their[what])}, Fairlead ${String(our[what])}`);
  };
  compare('type');
  compare('labels');
  compare('buckets');
  return found;
}
