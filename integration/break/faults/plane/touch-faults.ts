import { readFile } from 'node:fs/promises';
import { until } from '../../../../lab/host/until.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const MOST_MS = 1_000;
const DEADLINE_MS = 20_000;

const STRANGER = `table inet stranger {
  set friends { type ipv4_addr; elements = { 192.0.2.1, 192.0.2.2 } }
  chain in { type filter hook input priority 10; ip saddr @friends counter accept; }
}`;
const TELL_PID = 'echo $$; exec nft "$@"';

/** External changes of our tables. */
export const TOUCH_FAULTS: readonly PlaneFault[] = [
  touch('element deleted', {
    done: 'one element of the map of frontends, by `nft delete element`',
    command: async (scene) => {
      const listing = await scene.onNode('nft', 'list', 'map', 'ip', 'fairlead', 'frontends');
      const key = /elements = \{ (\S+ \. \w+ \. \S+)/.exec(listing)?.[1];
      must(key !== undefined, 'the map of frontends has no elements');
      return ['delete', 'element', 'ip', 'fairlead', 'frontends', `{ ${key} }`];
    },
  }),
  touch('rules of a chain flushed', {
    done: 'all rules of a chain, by `nft flush chain`',
    command: async (scene) => ['flush', 'chain', 'ip', 'fairlead', await baseChain(scene)],
  }),
  touch('chain deleted', {
    done: 'a chain with a hook, by `nft delete chain`',
    command: async (scene) => ['delete', 'chain', 'ip', 'fairlead', await baseChain(scene)],
  }),
  touch('table deleted', {
    done: '`nft delete table ip fairlead`',
    command: async () => ['delete', 'table', 'ip', 'fairlead'],
  }),
  touch('ruleset flushed', {
    done: '`nft flush ruleset`, which also deletes tables of other programs',
    command: async () => ['flush', 'ruleset'],
    takesOthers: true,
  }),
];

interface Touch {
  readonly done: string;
  readonly command: (scene: PlaneScene) => Promise<string[]>;
  readonly takesOthers?: true;
}

function touch(name: string, of: Touch): PlaneFault {
  return { name, done: of.done, happen: (scene) => beTouched(scene, of) };
}

async function beTouched(scene: PlaneScene, of: Touch): Promise<PlaneOutcome> {
  await scene.serving();
  await scene.onNode('nft', STRANGER);
  try {
    await scene.inside.becomesRight('diff', DEADLINE_MS);
    const others = await listOthers(scene);
    const argv = await of.command(scene);
    const from = performance.now();
    const pid = Number(await scene.onNode('sh', '-c', TELL_PID, 'sh', ...argv));
    const afterTouch = await scene.inside.ask('diffAgain', {});
    await scene.inside.becomesRight('diffAgain', DEADLINE_MS);
    const tookMs = performance.now() - from;
    await named(scene, pid);
    must(tookMs < MOST_MS, `repaired only after ${inMs(tookMs)}`);
    const left = await listOthers(scene);
    must(left === (of.takesOthers ? '' : others), 'the table of another program was changed');
    must(others !== '', 'the table of another program is missing');
    const seen = afterTouch.length > 0 ? `, ${afterTouch.length} seen missing` : '';
    return {
      rightAfter: inMs(tookMs),
      lost: `nothing${seen}; ${of.takesOthers ? 'tables of other programs not recreated' : 'tables of other programs unchanged'}; log names nft and its PID`,
    };
  } finally {
    // Without one there is nothing to delete; made first, it is there.
    await scene.onNode('nft', 'add table inet stranger; delete table inet stranger');
  }
}

/** The status and the log name the process. */
async function named(scene: PlaneScene, pid: number): Promise<void> {
  const isNamed = async (): Promise<boolean> => {
    const drifts = (await scene.status())?.drifts ?? [];
    return drifts.some(({ by }) => by?.pid === pid && by.program === 'nft');
  };
  await until(isNamed, { what: `the status to name nft, ${pid}`, deadlineMs: DEADLINE_MS });
  const log = await readFile(scene.proxy.logFile, 'utf8');
  must(log.includes(`pid=${pid} program=nft`), `the log does not name process ${pid}`);
}

async function listOthers(scene: PlaneScene): Promise<string> {
  const tables = (await scene.onNode('nft', 'list', 'tables')).split('\n');
  const others = tables.filter((line) => line !== '' && !line.endsWith(' fairlead'));
  const listings = others.map((line) => scene.onNode('nft', '-a', 'list', ...line.split(' ')));
  return (await Promise.all(listings)).join('');
}

async function baseChain(scene: PlaneScene): Promise<string> {
  const listing = await scene.onNode('nft', 'list', 'table', 'ip', 'fairlead');
  const name = /chain (\S+) \{\s+type nat hook output/.exec(listing)?.[1];
  must(name !== undefined, 'no chain has the hook of outgoing packets');
  return name ?? '';
}
