import { constants } from 'node:os';
import type { ServicePortKey } from '../../forwarding/model.ts';
import type { Ipvs, IpvsRefusal, IpvsWrite } from '../../linux/ipvs/model.ts';
import type { CaptureChange, CaptureTables } from './capture/model.ts';
import type { ExpectedPrint } from './expected-print.ts';
import type { Hairpins } from './hairpins.ts';
import { isEmptyPlan, type ServerPlan } from './plan.ts';
import { asPlaneError, refusalError } from './refusal.ts';

const { EEXIST, ENOENT, ESRCH } = constants.errno;

/** The kernel holds memory for each element of a transaction until the commit. */
const ELEMENTS_AT_ONCE = 2000;

export interface Kernel {
  readonly ipvs: Ipvs;
  readonly capture: CaptureTables;
  readonly hairpins: Hairpins;
  readonly print: ExpectedPrint;
  /** Called with the name of a scheduler that the kernel does not have. */
  readonly onMissingScheduler: (name: string) => void;
}

/**
 * Addresses that IPVS no longer serves, then IPVS, then addresses that it serves now. There is no
 * transaction: rejects with a PlaneError that names every row with a write as unknown.
 */
export async function perform(kernel: Kernel, plans: readonly ServerPlan[]): Promise<void> {
  const written = plans.filter((plan) => !isEmptyPlan(plan));
  try {
    await leave(kernel, written);
    const refusals = await writeIpvs(kernel, written);
    for (const refusal of refusals.keys()) noteScheduler(kernel, refusal);
    const [first] = refusals.keys();
    const refused = new Set(refusals.values());
    // What was refused in part gets no connections: the plane behind has the row.
    await enter(
      kernel,
      written.filter((plan) => !refused.has(plan)),
    );
    if (first === undefined) return;
    const culprit = refusals.get(first)?.row ?? '';
    throw refusalError([first, ...[...refusals.keys()].slice(1)], {
      culprit,
      unknown: rowsOf(written),
    });
  } catch (error) {
    throw asPlaneError(error, rowsOf(written));
  }
}

function rowsOf(plans: readonly ServerPlan[]): ReadonlySet<ServicePortKey> {
  return new Set(plans.map(({ row }) => row));
}

async function leave({ capture, hairpins }: Kernel, plans: readonly ServerPlan[]): Promise<void> {
  const missing = hairpins.missing();
  await writeInParts(capture, [
    ...plans.flatMap(({ pass }): CaptureChange[] => (pass ? [{ pass: [pass] }] : [])),
    ...plans.flatMap(({ list }): CaptureChange[] => (list ? [{ serversAdd: [list] }] : [])),
    ...missing.map((address): CaptureChange => ({ hairpinAdd: [address] })),
  ]);
  for (const address of missing) hairpins.noteWritten(address);
}

async function enter({ capture, hairpins }: Kernel, plans: readonly ServerPlan[]): Promise<void> {
  const needless = hairpins.needless();
  await writeInParts(capture, [
    ...plans.flatMap(({ take }): CaptureChange[] => (take ? [{ take: [take] }] : [])),
    ...plans.flatMap(({ retake }): CaptureChange[] => (retake ? [{ retake: [retake] }] : [])),
    ...plans.flatMap(({ unlist }): CaptureChange[] =>
      unlist ? [{ serversDelete: [unlist] }] : [],
    ),
    ...needless.map((address): CaptureChange => ({ hairpinDelete: [address] })),
  ]);
  for (const address of needless) hairpins.noteDeleted(address);
}

/** Each of `changes` has one element. */
export async function writeInParts(
  capture: CaptureTables,
  changes: readonly CaptureChange[],
): Promise<void> {
  for (let from = 0; from < changes.length; from += ELEMENTS_AT_ONCE) {
    const joined: Record<string, unknown[]> = {};
    for (const change of changes.slice(from, from + ELEMENTS_AT_ONCE)) {
      for (const [name, elements] of Object.entries(change)) {
        joined[name] ??= [];
        joined[name].push(...(elements as unknown[]));
      }
    }
    await capture.write(joined as CaptureChange);
  }
}

function noteScheduler({ onMissingScheduler }: Kernel, { write, errno }: IpvsRefusal): void {
  const isNamed = write.do === 'add-server' || write.do === 'set-server';
  if (isNamed && errno === ENOENT) onMissingScheduler(write.server.scheduler);
}

type Refusals = ReadonlyMap<IpvsRefusal, ServerPlan>;

/**
 * Gives what the kernel refused, with the plan that it was written for. Old destinations serve until
 * the new ones do.
 */
async function writeIpvs(kernel: Kernel, plans: readonly ServerPlan[]): Promise<Refusals> {
  const starts = await writeEach(kernel, plans, ({ writes }) => writes);
  const refused = new Set(starts.values());
  const others = plans.filter((plan) => !refused.has(plan));
  const stops = await writeEach(kernel, others, (plan) => plan.stops);
  return new Map([...starts, ...stops]);
}

async function writeEach(
  { ipvs, print }: Kernel,
  plans: readonly ServerPlan[],
  writesOf: (plan: ServerPlan) => readonly IpvsWrite[],
): Promise<Refusals> {
  const planOf = new Map(
    plans.flatMap((plan) => writesOf(plan).map((write) => [write, plan] as const)),
  );
  const refusals = await print.during(ipvs, [...planOf.keys()]);
  const left = new Map<IpvsRefusal, ServerPlan>();
  const fixes = new Map<IpvsWrite, ServerPlan>();
  for (const refusal of refusals) {
    const plan = planOf.get(refusal.write);
    if (plan === undefined || isDone(refusal)) continue;
    const fix = fixOf(refusal);
    if (fix === undefined) left.set(refusal, plan);
    else fixes.set(fix, plan);
  }
  for (const refusal of await print.during(ipvs, [...fixes.keys()])) {
    const plan = fixes.get(refusal.write);
    if (plan) left.set(refusal, plan);
  }
  return left;
}

/** It was to get no connections, and is gone. */
function isDone({ write, errno }: IpvsRefusal): boolean {
  if (errno !== ENOENT || !('destination' in write)) return false;
  return write.do === 'delete-destination' || write.destination.weight === 0;
}

/** Another process, or the deletion of UDP flows, was faster. */
function fixOf({ write, errno }: IpvsRefusal): IpvsWrite | undefined {
  if (errno === EEXIST && write.do === 'add-destination')
    return { ...write, do: 'set-destination' };
  if (errno === ENOENT && write.do === 'set-destination')
    return { ...write, do: 'add-destination' };
  if (errno === ESRCH && write.do === 'set-server') return { ...write, do: 'add-server' };
  return undefined;
}
