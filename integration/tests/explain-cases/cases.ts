import { stripVTControlCharacters } from 'node:util';
import { startDaemon } from '../../../lab/host/processes.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import type { Code } from '../../../src/explain/codes.ts';
import { plantReversePath } from '../explain-proof/reverse-path.ts';
import type { Scene } from '../explain-proof/scene.ts';
import { WEB, WRONG_WAY } from './shop.ts';
import { onTerminal, type Printed, type Terminal } from './terminal.ts';

/** A question that people ask, with what makes its answer. */
export interface Case {
  readonly title: string;
  /** Of `fairlead explain`. */
  readonly args: string;
  readonly code: Code;
  readonly exit: number;
  /** The first line says this. */
  readonly says: RegExp;
  /** Runs the command with a fault planted, or while a client connects. */
  readonly within?: (scene: Scene, ask: () => Promise<Printed>) => Promise<Printed>;
}

const DEADLINE_MS = 60_000;
const CART = '--from pod:shop/cart-6f4d';

export const CASES: readonly Case[] = [
  {
    title: 'A cluster IP, from a pod: it reaches',
    args: `shop/web ${CART}`,
    code: 'REACHES',
    exit: 0,
    says: /pod shop\/cart-6f4d reaches shop\/web:http \(10\.96\.0\.10:80\) at 10\.244\.[23]\.10:8080, one of 2 endpoints$/,
  },
  {
    title: 'No endpoint can serve',
    args: `shop/reviews ${CART}`,
    code: 'REFUSED_NO_ENDPOINTS',
    exit: 3,
    says: /shop\/reviews:http \(10\.96\.0\.11:80\) has no endpoint that could serve: the client is refused at once$/,
  },
  {
    title: 'One pod gets no connection',
    args: 'shop/web --why-not web-q1wd',
    code: 'NOT_SELECTED',
    exit: 3,
    says: /pod shop\/web-q1wd \(10\.244\.8\.40\) gets no connection of shop\/web:http from a pod of this node: not ready$/,
  },
  {
    title: '`externalTrafficPolicy: Local` on a node without an endpoint',
    args: '198.18.0.7:80 --from 198.51.100.20',
    code: 'DROPPED_NO_LOCAL_ENDPOINTS',
    exit: 3,
    says: /ingress\/edge:http \(198\.18\.0\.7:80\) is for endpoints on this node only, and there is none: dropped, and the client waits$/,
  },
  {
    title: 'A source range denies',
    args: `198.18.0.2:80 ${CART}`,
    code: 'DROPPED_SOURCE_RANGE',
    exit: 3,
    says: /pod shop\/cart-6f4d may not connect to shop\/admin:http \(198\.18\.0\.2:80\): dropped, and the client waits$/,
  },
  {
    title: 'A rule of another program drops it',
    args: `shop/web ${CART}`,
    code: 'DROPPED_BY_RULE',
    exit: 4,
    says: /packet of pod shop\/cart-6f4d to shop\/web:http \(10\.96\.0\.10:80\) was dropped by handle \d+ of chain guard, table inet firewall, which is not Fairlead's$/,
    within: behindFirewall,
  },
  {
    title: 'The kernel drops it: `rp_filter`',
    args: `shop/web --from ${WRONG_WAY} --watch 60s`,
    code: 'DROPPED_REVERSE_PATH',
    exit: 4,
    says: /packet from 203\.0\.113\.9 to 10\.244\.[23]\.10:8080 is dropped by the reverse path filter of eth0/,
    within: askedTheWrongWay,
  },
  {
    title: 'Another program removes the rules',
    args: `shop/web ${CART}`,
    code: 'NOT_IN_KERNEL',
    exit: 4,
    says: /shop\/web:http was not in the kernel when the packet of pod shop\/cart-6f4d came: nft \(pid \d+\) has changed Fairlead's rules$/,
    within: whileRulesAreRemoved,
  },
];

/** What the command prints in a case. */
export async function printedIn(scene: Scene, of: Case, terminal: Terminal): Promise<Printed> {
  const args = ['explain', ...of.args.split(' '), '--run-folder', scene.runFolder];
  const ask = async (): Promise<Printed> => await onTerminal(args, terminal);
  return await (of.within?.(scene, ask) ?? ask());
}

/** A firewall that knows nothing of Services, as people have them on nodes. */
async function behindFirewall(_scene: Scene, ask: () => Promise<Printed>): Promise<Printed> {
  const rules = 'type filter hook forward priority filter; tcp dport 8080 drop';
  await run(['nft', '-f', '-'], { input: `table inet firewall { chain guard { ${rules}; }; }` });
  try {
    return await ask();
  } finally {
    await run(['nft', 'delete', 'table', 'inet', 'firewall']);
  }
}

/** A client outside connects, whose packets come in by an interface that leads not back to it. */
async function askedTheWrongWay(scene: Scene, ask: () => Promise<Printed>): Promise<Printed> {
  const repairs: (() => void)[] = [];
  plantReversePath({ after: (repair) => repairs.push(repair) }, scene.outside, WEB);
  let isOver = false;
  try {
    const told = ask().finally(() => {
      isOver = true;
    });
    const question = { transport: 'TCP', address: WEB, port: 80, timeoutMs: 300 } as const;
    while (!isOver) await scene.outside.ask(question);
    return await told;
  } finally {
    for (const repair of repairs) repair();
  }
}

/** The agent restores them each time, so that some questions are answered between two removals. */
async function whileRulesAreRemoved(scene: Scene, ask: () => Promise<Printed>): Promise<Printed> {
  const remove = 'while :; do nft flush map ip fairlead frontends; done';
  const remover = startDaemon({
    name: 'a program that removes rules',
    namespacePath: `/proc/${process.pid}/ns/net`,
    argv: ['sh', '-c', remove],
    logFile: `${scene.runFolder}/remover.log`,
  });
  // Before and after the packet the agent may have noticed, and say that the row waits to be written.
  const isRemoved = async (): Promise<Printed | undefined> => {
    const printed = await ask();
    const [headline = ''] = printed.lines;
    return stripVTControlCharacters(headline).startsWith('NOT_IN_KERNEL') ? printed : undefined;
  };
  try {
    return await until(isRemoved, { what: 'a packet without rules', deadlineMs: DEADLINE_MS });
  } finally {
    await remover.stop();
  }
}
