import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { type FlowQuestion, passesFilter } from '../../linux/conntrack/question.ts';
import { type NewFlow, newFlow } from '../../linux/conntrack/testing/insert.ts';

/** An in-memory conntrack table, for a kernel that fails or lags on demand. */
export class FakeConntrack implements Conntrack {
  table: Flow[] = [];
  readonly questions: FlowQuestion[] = [];
  /** Called before each question is answered; may throw. */
  onQuestion: () => Promise<void> | void = () => undefined;

  filtersCheaply(): boolean {
    return true;
  }

  async *flows(question: FlowQuestion, _signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    this.questions.push(question);
    await this.onQuestion();
    const { filter } = question;
    const found = this.table.filter((flow) => !filter || passesFilter(filter, flow));
    if (found.length > 0) yield found;
  }

  remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const removed = this.table.filter((flow) => flows.includes(flow));
    this.table = this.table.filter((flow) => !flows.includes(flow));
    return Promise.resolve(removed);
  }
}

/** A flow as the kernel reports it. */
export function flow(about: Parameters<typeof newFlow>[0], more: Partial<Flow> = {}): Flow {
  const made: NewFlow = newFlow(about);
  const rest = { status: 0, id: 1, zone: 0, mark: 0, timeoutSeconds: 30, tcpState: undefined };
  return { ...made, ...rest, ...more };
}
