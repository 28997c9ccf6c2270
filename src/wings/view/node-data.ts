import { join } from 'node:path';
import type { HistoryRequest } from '../../agent/history/history-page.ts';
import { readHistory, readNode } from '../../agent/servers/status-client.ts';
import { findBasis } from '../../commands/basis/basis.ts';
import { reportOn } from '../../commands/doctor/examine.ts';
import { readPatient } from '../../commands/doctor/examined-subject.ts';
import { explainAll, groundsFor, inquire, targetFrom } from '../../commands/explain/inquire.ts';
import { STATUS_SOCKET } from '../../config/run-folder.ts';
import type { Clock } from '../../time/clock.ts';
import { AgentStatus, nodeAbout } from './agent-status.ts';
import { changesBefore } from './change-pages.ts';
import type { ChangesAnswer } from './protocol/changes-answer.ts';
import type { DoctorAnswer } from './protocol/doctor-answer.ts';
import type { NodeAbout } from './protocol/node-hello.ts';
import type { PathAnswer } from './protocol/path-answer.ts';
import type { ServiceAnswer } from './protocol/service-page.ts';
import type { Hello } from './protocol/tick.ts';
import { search } from './search.ts';
import { servicePortAnswer } from './service-answer.ts';
import type { Session } from './session.ts';
import type { PathQuestion, ViewData } from './view-data.ts';
import { ViewProblem } from './view-problem.ts';

export interface NodeDataOptions {
  readonly runFolder: string;
  readonly session: Session;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly mayProbe: boolean;
}

const CHANGES_OF_HELLO = 20;
const CHANGES_OF_SERVICE = 50;
const CHANGES_OF_PAGE = 100;
/** Questions that wait: each takes milliseconds, and one with a probe up to five seconds. */
const MOST_QUESTIONS = 4;
/** A report of the doctor reads every rule: it is given to all who ask within this time. */
const DOCTOR_KEPT_MS = 5_000;

/** Answers of this machine's agent and kernel. */
export class NodeData implements ViewData {
  readonly #options: NodeDataOptions;
  readonly #socketPath: string;
  readonly #status: AgentStatus;
  readonly #questions = new OneAtATime(MOST_QUESTIONS);
  #doctor: { readonly atMs: number; readonly report: Promise<DoctorAnswer> } | undefined;

  constructor(options: NodeDataOptions) {
    this.#options = options;
    this.#socketPath = join(options.runFolder, STATUS_SOCKET);
    this.#status = new AgentStatus(this.#socketPath, () => options.clock.monotonicMs());
  }

  async node(): Promise<NodeAbout> {
    const node = await readNode({ socketPath: this.#socketPath });
    return await nodeAbout(node, await this.#status.now(), this.#options.mayProbe);
  }

  async hello(): Promise<Hello> {
    const [about, { changes }] = await Promise.all([
      this.node(),
      this.#changes({ before: undefined, service: undefined, most: CHANGES_OF_HELLO }),
    ]);
    return { about, past: this.#options.session.past.points(), changes };
  }

  async dots() {
    return (await this.#options.session.watch()).dots.dots();
  }

  async search(query: string) {
    return search((await this.#options.session.watch()).dots, query);
  }

  async service(name: string): Promise<ServiceAnswer | undefined> {
    const watch = await this.#options.session.watch();
    if (!watch.dots.has(name)) return undefined;
    watch.interest.add(name);
    const rows = await watch.rows.rows(name);
    const asked = { before: undefined, service: name, most: CHANGES_OF_SERVICE };
    return {
      service: name,
      ports: rows.map((row) => servicePortAnswer(row, watch.gathered)),
      changes: (await this.#changes(asked)).changes,
    };
  }

  async changes(asked: { before: number | undefined; service: string | undefined }) {
    return await this.#changes({ ...asked, most: CHANGES_OF_PAGE });
  }

  async path(question: PathQuestion): Promise<PathAnswer> {
    return await this.#questions.run(async () => await this.#explain(question));
  }

  async doctor(): Promise<DoctorAnswer> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#doctor === undefined || nowMs - this.#doctor.atMs > DOCTOR_KEPT_MS) {
      this.#doctor = { atMs: nowMs, report: this.#examine() };
    }
    return await this.#doctor.report;
  }

  async #examine(): Promise<DoctorAnswer> {
    const report = await reportOn(await readPatient(this.#options.runFolder));
    return { atMs: Math.round(this.#options.clock.wallMs()), ...report };
  }

  async #explain({ target: text, from = 'pod', probe }: PathQuestion): Promise<PathAnswer> {
    const { runFolder } = this.#options;
    const target = targetFrom(text);
    const basis = await findBasis({ flags: new Map(), options: { runFolder } });
    // Who opens the page has no rights of their own to read pods with.
    const options = { from, probe, areRowsEnough: true };
    const inquiry = await inquire(basis, { text, target, options });
    return await explainAll(inquiry, await groundsFor(inquiry));
  }

  async #changes(asked: Parameters<typeof changesBefore>[1]): Promise<ChangesAnswer> {
    const socketPath = this.#socketPath;
    const read = async (request: HistoryRequest) => await readHistory(request, { socketPath });
    return await changesBefore(read, asked);
  }
}

const BUSY = 503;

/** Runs one after the other, and turns away what would wait behind too many. */
class OneAtATime {
  readonly #most: number;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** `most`: that wait or run. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Throws ViewProblem if too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#most) {
      throw new ViewProblem(BUSY, {
        code: 'TOO_MANY_QUESTIONS',
        message: `${this.#most} questions are waiting for their answer`,
        next: 'ask again in a few seconds',
      });
    }
    this.#count += 1;
    const done = this.#last.then(work).finally(() => {
      this.#count -= 1;
    });
    // The next one runs whether this one fails or not; its caller gets the error.
    this.#last = done.then(
      () => undefined,
      () => undefined,
    );
    return await done;
  }
}
