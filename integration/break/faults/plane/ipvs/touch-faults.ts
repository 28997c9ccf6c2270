import { readFile } from 'node:fs/promises';
import { until } from '../../../../../lab/host/until.ts';
import { lasting } from '../../fault.ts';
import type { Connection } from '../connections.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { monotonicMs } from '../questions.ts';

const TOUCHES = 3;
/** A poll has compared since the last write of our own, after which a change of a weight is believed. */
const QUIET_SECONDS = 8;
const DEADLINE_MS = 60_000;
const TOLD_WITHIN_MS = 10_000;
const UNDER_LOAD = { hands: 2, pauseMs: 5 };

interface Touch {
  readonly done: string;
  /** The command, for the Service that is connected to. */
  readonly command: (of: Touched) => [string, ...string[]];
  /** The latest repair that is right. */
  readonly mostMs: number;
  /** What the log says of it. */
  readonly logged: RegExp;
}

interface Touched {
  readonly address: string;
  readonly endpoint: string;
}

/** IPVS has no events: a poll of the begin of its listing every second, of all of it every few. */
const BEGIN_MOST_MS = 10_000;
const WHOLE_MOST_MS = 30_000;
/** The tables have events; the guest kernel has one processor for the cluster, the pods and the node. */
const EVENT_MOST_MS = 10_000;
const IPVS_CHANGED = /virtual servers of IPVS were changed by another process/;

/** External changes of virtual servers, and of what gives them their connections. */
export const TOUCHES_OF_IPVS: readonly PlaneFault[] = [
  touch('virtual servers deleted', {
    done: 'all virtual servers, by `ipvsadm -C`',
    command: () => ['ipvsadm', '-C'],
    mostMs: BEGIN_MOST_MS,
    logged: IPVS_CHANGED,
  }),
  touch('virtual server deleted', {
    done: 'the one of the Service that is connected to, by `ipvsadm -D`',
    command: ({ address }) => ['ipvsadm', '-D', '-t', `${address}:80`],
    mostMs: WHOLE_MOST_MS,
    logged: IPVS_CHANGED,
  }),
  touch('destination deleted', {
    done: 'one of the two of the Service that is connected to, by `ipvsadm -d`',
    command: ({ address, endpoint }) => ['ipvsadm', '-d', '-t', `${address}:80`, '-r', endpoint],
    mostMs: WHOLE_MOST_MS,
    logged: IPVS_CHANGED,
  }),
  touch('weight changed', {
    done: 'weight 0 for one of the two destinations, by `ipvsadm -e`',
    command: ({ address, endpoint }) => [
      'ipvsadm',
      '-e',
      '-t',
      `${address}:80`,
      '-r',
      endpoint,
      '-m',
      '-w',
      '0',
    ],
    mostMs: WHOLE_MOST_MS,
    logged: IPVS_CHANGED,
  }),
  touch('scheduler changed', {
    done: 'that of the Service that is connected to, by `ipvsadm -E -s lc`',
    command: ({ address }) => ['ipvsadm', '-E', '-t', `${address}:80`, '-s', 'lc'],
    mostMs: WHOLE_MOST_MS,
    logged: IPVS_CHANGED,
  }),
  touch('capture table deleted', {
    done: '`nft delete table ip fairlead-ipvs`; nftables behind serves meanwhile',
    command: () => ['nft', 'delete', 'table', 'ip', 'fairlead-ipvs'],
    mostMs: EVENT_MOST_MS,
    logged: /program=nft/,
  }),
  touch('routing rule deleted', {
    done: 'the rule by which captured packets reach IPVS, by `ip rule del`',
    command: () => ['ip', 'rule', 'del', 'fwmark', '0x1000/0x1000', 'table', '120'],
    mostMs: EVENT_MOST_MS,
    logged: /deleted .*rule/,
  }),
];

function touch(name: string, of: Touch): PlaneFault {
  return {
    name,
    done: `${of.done}, ${TOUCHES} times, ${QUIET_SECONDS} s after the last change`,
    happen: (scene) => beTouched(scene, of),
  };
}

/** From the begin of the command to the first comparison without differences. */
interface Repair {
  readonly fromMs: number;
  readonly toMs: number;
}

async function beTouched(scene: PlaneScene, of: Touch): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const endpoint = `${scene.pod('left').address.ipv4}:8080`;
  const repairs: Repair[] = [];
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < TOUCHES; round++) {
      repairs.push(await touchOnce(scene, of.command({ address: hammer.address, endpoint })));
    }
  } finally {
    await hammer.stop();
  }
  const tookMs = repairs.map(({ fromMs, toMs }) => toMs - fromMs);
  const all = tookMs.map((ms) => ms.toFixed(0)).join(', ');
  must(Math.max(...tookMs) < of.mostMs, `repaired only after ${all} ms, not ${inMs(of.mostMs)}`);
  const log = await readFile(scene.proxy.logFile, 'utf8');
  must(of.logged.test(log), `the log does not say ${of.logged.source}`);
  const isDuring = ({ begunMs, answeredMs }: Connection): boolean =>
    repairs.some(({ fromMs, toMs }) => begunMs <= toMs && answeredMs >= fromMs);
  const failed = hammer.failed();
  const others = failed.filter((each) => !isDuring(each)).length;
  must(
    others === 0,
    `${others} failed outside of the repairs, which took ${all} ms; ${hammer.verdict()}`,
  );
  const during = hammer.made.filter(isDuring).length;
  return {
    rightAfter: `${all} ms`,
    lost: `${failed.length} of ${during} connections that were open or begun until the repairs failed, 0 of ${hammer.made.length - during} others; the status counted each, the log told of it`,
  };
}

async function touchOnce(scene: PlaneScene, command: [string, ...string[]]): Promise<Repair> {
  await lasting(QUIET_SECONDS);
  const before = (await scene.synced()).driftCount;
  const fromMs = monotonicMs();
  await scene.onNode(...command);
  const seen = await scene.inside.ask('diffAgain', {});
  await scene.inside.becomesRight('diffAgain', DEADLINE_MS);
  const toMs = monotonicMs();
  const isTold = async (): Promise<boolean> => (await scene.synced()).driftCount > before;
  const what = `the status to count a drift, after ${seen.length} differences`;
  await until(isTold, { what, deadlineMs: TOLD_WITHIN_MS });
  return { fromMs, toMs };
}
