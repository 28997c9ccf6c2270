import { until } from '../../../../lab/host/until.ts';
import { type Outsider, WEB_NAME, WEB_POD } from '../../../../lab/systemd/outsider.ts';

const QUERY_DEADLINE_MS = 60_000;
const RECOVERY_DEADLINE_MS = 60_000;

/** Names that each DNS server was asked for. */
export interface Asked {
  readonly lan: readonly string[];
  readonly cluster: readonly string[];
}

/** Asks from the machine, and counts at the servers. */
export class Asker {
  readonly #outsider: Outsider;

  constructor(outsider: Outsider) {
    this.#outsider = outsider;
  }

  /** Fails if the exit code is not 0. */
  async shell(script: string): Promise<string> {
    return await this.#outsider.machine.run(['sh', '-c', script]);
  }

  /** Addresses by systemd-resolved, without its cache; IPv4 first. */
  async query(name: string): Promise<readonly string[]> {
    const { stdout } = await this.#outsider.machine.tryRun(
      ['resolvectl', '--cache=no', '--legend=no', 'query', name],
      { deadlineMs: QUERY_DEADLINE_MS },
    );
    const found = [...stdout.matchAll(/(?:^\S+:|^)\s+([0-9a-f.:]+)\s/gm)];
    const addresses = found.map((match) => match[1] ?? '');
    return addresses.toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  }

  /** A query that is given up after some seconds; true: it was answered by then. */
  async isAnswered(name: string, withinSeconds: number): Promise<boolean> {
    const query = ['resolvectl', '--cache=no', 'query', name] as const;
    const argv = ['timeout', `${withinSeconds}`, ...query] as const;
    return (await this.#outsider.machine.tryRun(argv)).exitCode === 0;
  }

  /** The body by curl, which uses the C library's resolver; empty: it failed. */
  async web(...flags: readonly string[]): Promise<string> {
    const url = `http://${WEB_NAME}/hostname`;
    return (await this.#outsider.machine.tryRun(['curl', '-sS', '-m', '5', ...flags, url])).stdout;
  }

  async untilWebAnswers(): Promise<void> {
    await until(async () => (await this.web()) === WEB_POD, {
      what: `${WEB_NAME} to answer`,
      deadlineMs: RECOVERY_DEADLINE_MS,
    });
  }

  async untilResolves(name: string, address: string): Promise<void> {
    await until(async () => (await this.query(name)).includes(address), {
      what: `${name} to be ${address}`,
      deadlineMs: RECOVERY_DEADLINE_MS,
    });
  }

  async during(work: () => Promise<unknown>): Promise<Asked> {
    const before = await this.#asked();
    await work();
    const after = await this.#asked();
    return {
      lan: after.lan.slice(before.lan.length),
      cluster: after.cluster.slice(before.cluster.length),
    };
  }

  async #asked(): Promise<Asked> {
    const { lan, dns } = this.#outsider;
    return { lan: lan.askedNames(), cluster: await dns.askedNames() };
  }
}

export function isBelow(domain: string): (name: string) => boolean {
  return (name) => name.endsWith(`.${domain}`);
}
