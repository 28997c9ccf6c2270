import { constants } from 'node:os';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { Ipvs, IpvsRejection, IpvsWrite } from '../../../linux/ipvs/ipvs-model.ts';
import type { CaptureChange, CaptureTables } from './capture/capture-model.ts';
import type { ExpectedPrint } from './expected-print.ts';
import type { Hairpins } from './hairpins.ts';
import { asPlaneError } from './ipvs-rejection.ts';
import { isEmptyPlan, type ServerPlan } from './server-plan.ts';

const { EEXIST, ENOENT } = constants.errno;

/** The kernel holds memory for each element of a transaction until the commit. */
const ELEMENTS_AT_ONCE = 2000;

export interface Kernel {
  readonly ipvs: Ipvs;
  readonly capture: CaptureTables;
  readonly hairpins: Hairpins;
  /** As the tables have it: follows what is written. */
  readonly rejected: Set<string>;
  readonly print: ExpectedPrint;
}

/** Plans of which IPVS rejected something. The rest of each was done, but for what came after. */
export type Rejections = ReadonlyMap<ServerPlan, readonly IpvsRejection[]>;

/**
 * Addresses that IPVS no longer serves, then IPVS, then addresses that it serves now. There is no
 * transaction: rejects with a PlaneError that names every row with a write as unknown.
 */
export async function perform(kernel: Kernel, plans: readonly ServerPlan[]): Promise<Rejections> {
  const written = plans.filter((plan) => !isEmptyPlan(plan));
  try {
    await leave(kernel, written);
    const rejections = await writeIpvs(kernel, written);
    // What was rejected in part gets no connections: the plane behind has the row. A plan that leaves
    // it there captures nothing, and is noted although a destination could not be stopped.
    await enter(
      kernel,
      written.filter((plan) => !rejections.has(plan) || plan.reject !== undefined),
    );
    return rejections;
  } catch (error) {
    throw asPlaneError(error, rowsOf(written));
  }
}

export function rowsOf(plans: readonly ServerPlan[]): ReadonlySet<ServicePortKey> {
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

async function enter(kernel: Kernel, plans: readonly ServerPlan[]): Promise<void> {
  const { capture, hairpins, rejected } = kernel;
  const needless = hairpins.needless();
  await writeInParts(capture, [
    ...plans.flatMap(({ take }): CaptureChange[] => (take ? [{ take: [take] }] : [])),
    ...plans.flatMap(({ retake }): CaptureChange[] => (retake ? [{ retake: [retake] }] : [])),
    ...plans.flatMap(({ unlist }): CaptureChange[] =>
      unlist ? [{ serversDelete: [unlist] }] : [],
    ),
    ...plans.flatMap(({ reject }): CaptureChange[] => (reject ? [{ rejectedAdd: [reject] }] : [])),
    ...plans.flatMap(({ accept }): CaptureChange[] =>
      accept ? [{ rejectedDelete: [accept] }] : [],
    ),
    ...needless.map((address): CaptureChange => ({ hairpinDelete: [address] })),
  ]);
  for (const { id, reject, accept } of plans) {
    if (reject) rejected.add(id);
    if (accept) rejected.delete(id);
  }
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

/**
 * Virtual servers first: one that is rejected because another process has it must get no destination.
 * Old destinations serve until the new ones do.
 */
async function writeIpvs(kernel: Kernel, plans: readonly ServerPlan[]): Promise<Rejections> {
  const steps: readonly ((plan: ServerPlan) => readonly IpvsWrite[])[] = [
    ({ writes }) => writes.filter((write) => !('destination' in write)),
    ({ writes }) => writes.filter((write) => 'destination' in write),
    ({ stops }) => stops,
  ];
  const all = new Map<ServerPlan, readonly IpvsRejection[]>();
  for (const writesOf of steps) {
    const going = plans.filter((plan) => !all.has(plan));
    for (const [plan, rejections] of await writeEach(kernel, going, writesOf)) {
      all.set(plan, rejections);
    }
  }
  return all;
}

async function writeEach(
  { ipvs, print }: Kernel,
  plans: readonly ServerPlan[],
  writesOf: (plan: ServerPlan) => readonly IpvsWrite[],
): Promise<Rejections> {
  const planOf = new Map(
    plans.flatMap((plan) => writesOf(plan).map((write) => [write, plan] as const)),
  );
  const rejections = await print.during(ipvs, [...planOf.keys()]);
  const left = new Map<ServerPlan, IpvsRejection[]>();
  const note = (plan: ServerPlan, rejection: IpvsRejection): void => {
    const known = left.get(plan);
    if (known) known.push(rejection);
    else left.set(plan, [rejection]);
  };
  const fixes = new Map<IpvsWrite, ServerPlan>();
  for (const rejection of rejections) {
    const plan = planOf.get(rejection.write);
    if (plan === undefined || isDone(rejection)) continue;
    const fix = fixOf(rejection);
    if (fix === undefined) note(plan, rejection);
    else fixes.set(fix, plan);
  }
  for (const rejection of await print.during(ipvs, [...fixes.keys()])) {
    const plan = fixes.get(rejection.write);
    if (plan) note(plan, rejection);
  }
  return left;
}

/** It was to get no connections, and is gone. */
function isDone({ write, errno }: IpvsRejection): boolean {
  if (errno !== ENOENT || !('destination' in write)) return false;
  return write.do === 'delete-destination' || write.destination.weight === 0;
}

/** Another process, or the deletion of UDP flows, was faster. */
function fixOf({ write, errno }: IpvsRejection): IpvsWrite | undefined {
  if (errno === EEXIST && write.do === 'add-destination')
    return { ...write, do: 'set-destination' };
  if (errno === ENOENT && write.do === 'set-destination')
    return { ...write, do: 'add-destination' };
  return undefined;
}
