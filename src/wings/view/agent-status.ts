import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { isWell } from '../../commands/status/summary.ts';
import { troublesOf } from '../../commands/status/trouble.ts';
import { modeOfAgent, statusWordsOf } from '../../modes/mode-registry.ts';
import type { StatusWords } from '../../modes/status-words.ts';
import { Rest } from '../top/read-pause.ts';
import type { NodeAbout, Trouble } from './protocol/node-hello.ts';
import type { Propagation, RowsNow } from './protocol/tick.ts';

/** Some modes ask the kernel for a status, which may have much to tell: then it is asked seldom. */
const REST_FACTOR = 99;
const MOST_TROUBLES = 8;
const LONGEST_TEXT = 300;

/** What the page is told of the agent's state. */
export interface StatusNow {
  readonly rows: RowsNow;
  readonly propagation?: Propagation;
  readonly isReady: boolean;
  readonly troubles: readonly Trouble[];
  /** `namespace/name:port/…` of rows that the kernel rejected. */
  readonly failing: readonly string[];
  readonly page: StatusPage;
}

/** Reads the status, and rests between. */
export class AgentStatus {
  readonly #socketPath: string;
  readonly #monotonicMs: () => number;
  readonly #rest = new Rest(REST_FACTOR);
  #last: StatusNow | undefined;

  constructor(socketPath: string, monotonicMs: () => number) {
    this.#socketPath = socketPath;
    this.#monotonicMs = monotonicMs;
  }

  async now(): Promise<StatusNow> {
    const startedAtMs = this.#monotonicMs();
    if (this.#last !== undefined && !this.#rest.isOver(startedAtMs)) return this.#last;
    const page = (await readStatus({ socketPath: this.#socketPath })) as StatusPage;
    this.#last = statusNow(page, await statusWordsOf(page.mode));
    const nowMs = this.#monotonicMs();
    this.#rest.begin(nowMs, { costMs: nowMs - startedAtMs });
    return this.#last;
  }

  get ageSeconds(): number | undefined {
    return this.#rest.ageSeconds(this.#monotonicMs());
  }
}

function statusNow(page: StatusPage, words: StatusWords | undefined): StatusNow {
  const { rows, failingRowCount, contents, propagation, failingRows } = page;
  const { count, p50Ms, p99Ms, maxMs } = propagation.received;
  return {
    rows: {
      ...rows,
      failing: failingRowCount,
      ...(contents ? { services: contents.services, endpoints: contents.endpoints } : {}),
    },
    ...(count === 0 ? {} : { propagation: { count, p50Ms, p99Ms, maxMs } }),
    isReady: isWell(page),
    troubles: troublesOf(page, words).slice(0, MOST_TROUBLES).map(shortened),
    failing: failingRows.map(({ key }) => key),
    page,
  };
}

function shortened({ what, next }: Trouble): Trouble {
  return { what: what.slice(0, LONGEST_TEXT), next: next.slice(0, LONGEST_TEXT) };
}

export async function nodeAbout(
  node: AgentNode,
  { page, isReady, troubles }: StatusNow,
  mayProbe: boolean,
): Promise<NodeAbout> {
  const { zone } = node.view;
  return {
    node: node.nodeName,
    ...(zone === '' ? {} : { zone }),
    mode: node.mode,
    version: node.version,
    pid: node.pid,
    startedAtMs: page.startedAtMs,
    atMs: page.atMs,
    mayProbe,
    isReady,
    troubles,
    unseenSources: (await modeOfAgent(node.mode))?.unseenSources ?? [],
  };
}
