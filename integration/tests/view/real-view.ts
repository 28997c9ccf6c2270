import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../lab/host/until.ts';
import type { Host } from '../../../src/linux/testing/hosts/host.ts';
import type { Question } from '../../../src/linux/testing/hosts/host-messages.ts';
import { TopSite } from '../top/site.ts';

const DEADLINE_MS = 60_000;

/** A real agent, real connections and the real `fairlead view`, in namespaces of the test. */
export class RealView {
  readonly site: TopSite;
  readonly #stop = new AbortController();
  readonly #loads: Promise<void>[] = [];
  readonly #ends: (() => void)[] = [];
  #url = '';

  private constructor(site: TopSite) {
    this.site = site;
  }

  static async enter(
    mode: string,
    manifestsOf?: (endpoints: readonly string[]) => string,
  ): Promise<RealView> {
    const site = await TopSite.enter();
    await site.startAgent(mode, manifestsOf);
    return new RealView(site);
  }

  /** Resolves when the command has printed its address. */
  async open(...args: readonly string[]): Promise<void> {
    const daemon = this.site.start('view', ['view', '--run-folder', this.site.runFolder, ...args]);
    const log = (): string => readFileSync(daemon.logFile, 'utf8');
    this.#url = await until(() => /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(log())?.[0], {
      what: () => `the address of fairlead view: ${log()}`,
      deadlineMs: DEADLINE_MS,
    });
  }

  get url(): string {
    return this.#url;
  }

  /** The host connects again and again until the site is left. */
  load(host: Host, question: Question): void {
    const { signal } = this.#stop;
    const again = async (): Promise<void> => {
      while (!signal.aborted) await host.ask({ count: 20, timeoutMs: 300, ...question });
    };
    this.#loads.push(again());
  }

  /** One address after the other, so often each, and again. */
  loadAll(
    host: Host,
    rounds: readonly { readonly address: string; readonly count: number }[],
  ): void {
    const { signal } = this.#stop;
    const again = async (): Promise<void> => {
      while (!signal.aborted) {
        for (const { address, count } of rounds) {
          await host.ask({ transport: 'TCP', address, port: 80, count, timeoutMs: 300 });
        }
      }
    };
    this.#loads.push(again());
  }

  /** Other objects, which the agent reads again. */
  write(manifests: string): void {
    writeFileSync(join(this.site.folder, 'objects.json'), manifests);
  }

  onLeave(end: () => void): void {
    this.#ends.push(end);
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loads);
    for (const end of this.#ends) end();
    await this.site.leave();
  }
}
