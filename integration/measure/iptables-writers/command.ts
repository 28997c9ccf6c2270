import { Command } from 'commander';
import { formatTable } from '../../../lab/host/table.ts';
import { servicePortKey } from '../../../src/forwarding/model.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type Cost, measured } from './cost.ts';
import { FACTS, service, writing } from './plane.ts';
import { type WriterName, writerPath } from './programs.ts';

interface Options {
  readonly services: number;
  readonly endpoints: number;
  readonly rounds: number;
}

const WRITERS: readonly WriterName[] = ['netlink', 'program'];
const MANY = 100;
const HEAD = ['WHAT', 'WRITER', 'OWN USER', 'OWN KERNEL', 'ITS USER', 'ITS KERNEL', 'WALL'];

export const command = new Command()
  .option('--services <count>', 'how many Services', Number, 5000)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .option('--rounds <count>', 'how often each small change is made', Number, 20)
  .action(measureAll);

/** Processor time, so that it says something on a busy machine too; of a step, in milliseconds. */
async function measureAll(options: Options): Promise<void> {
  const rows: string[][] = [];
  for (const writer of WRITERS) {
    enterOwnNetwork();
    using path = writerPath(writer);
    for (const [what, cost] of await measure(path.folder, options)) {
      const { ownUser, ownKernel, itsUser, itsKernel, wall } = cost;
      const all = [ownUser, ownKernel, itsUser, itsKernel, wall];
      rows.push([what, writer, ...all.map((ms) => `${Math.round(ms)} ms`)]);
    }
  }
  const order = [...new Set(rows.map(([what]) => what))];
  rows.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  console.log(formatTable([HEAD, ...rows]));
}

async function measure(path: string, options: Options): Promise<[string, Cost][]> {
  const { services, endpoints, rounds } = options;
  const plane = writing(path);
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  const found: [string, Cost][] = [];
  const step = async (what: string, times: number, change: (index: number) => Promise<void>) => {
    found.push([what, await measured(times, change)]);
  };
  const replace = (index: number, before?: number, after?: number) =>
    plane.apply([
      {
        key: `t/svc-${index}/TCP/IPv4`,
        id: service(index, 0).id,
        before: before === undefined ? 'absent' : service(index, before),
        after: after === undefined ? undefined : service(index, after),
      },
    ]);
  await step('all Services at a start', 1, async () => {
    for (let from = 0; from < services; from += plane.rowsPerStep) {
      const count = Math.min(plane.rowsPerStep, services - from);
      await plane.apply(
        Array.from({ length: count }, (_, offset) => {
          const after = service(from + offset, endpoints);
          return { key: servicePortKey(after.id), id: after.id, before: 'absent' as const, after };
        }),
      );
    }
  });
  await step('one endpoint more', rounds, (index) => replace(index, endpoints, endpoints + 1));
  await step('one endpoint less', rounds, (index) => replace(index, endpoints + 1, endpoints));
  await step('the last endpoint goes', rounds, (index) => replace(index, endpoints, 0));
  await step('the first endpoint comes', rounds, (index) => replace(index, 0, endpoints));
  await step('a Service goes', rounds, (index) => replace(index, endpoints));
  const rest = Array.from({ length: MANY }, (_, offset) => rounds + offset);
  await step(`${MANY} Services go`, 1, () =>
    plane.apply(
      rest.map((index) => {
        const before = service(index, endpoints);
        return { key: servicePortKey(before.id), id: before.id, before, after: undefined };
      }),
    ),
  );
  return found;
}
