import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Dialogue } from '../../../lab/host/dialogue.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { FAIRLEAD_MODES } from '../../../lab/proxies/fairlead-modes.ts';
import { startAsker } from './asker.ts';
import { type Answer, differenceOf } from './difference.ts';
import { checkOutEarlier } from './earlier.ts';
import { type Manifests, writeManifests } from './objects.ts';
import { type Call, callsAbout, explainEach, LISTED_AS } from './questions.ts';

interface Options {
  readonly with: string;
  readonly states: number;
}

interface Sides {
  readonly earlier: Dialogue;
  readonly now: Dialogue;
}

const ROOT = join(import.meta.dirname, '../../..');

export const command = new Command()
  .requiredOption('--with <commit>', 'the version before')
  .option('--states <count>', 'generated clusters, besides the conformance scenarios', Number, 100)
  .action(compareAnswers);

async function compareAnswers({ with: commit, states }: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-answers-'));
  try {
    const checkout = join(folder, 'earlier');
    await checkOutEarlier(ROOT, commit, checkout);
    using earlier = startAsker(checkout);
    using now = startAsker(ROOT);
    const comparison = new Comparison({ earlier, now });
    for (const manifests of await writeManifests(folder, states)) {
      for (const [turn, mode] of FAIRLEAD_MODES.entries()) {
        await terminalProgress().step(`${manifests.name}, mode ${mode}`, () =>
          comparison.about(manifests, { mode, turn }),
        );
      }
    }
    comparison.conclude(commit);
  } finally {
    await rm(folder, { recursive: true });
  }
}

class Comparison {
  readonly #sides: Sides;
  readonly #codes = new Set<string>();
  #calls = 0;
  #lines = 0;
  #different = 0;

  constructor(sides: Sides) {
    this.#sides = sides;
  }

  async about(manifests: Manifests, of: { mode: string; turn: number }): Promise<void> {
    for (const call of callsAbout(manifests, of.mode)) await this.#ask(call);
    for (const part of manifests.parts) {
      const [listing] = callsAbout(part, of.mode).filter((call) => call.includes(LISTED_AS));
      const { stdout: listed } = await this.#ask(listing ?? []);
      for (const call of explainEach(part, listed, of)) await this.#explain(call, of.mode);
    }
  }

  conclude(commit: string): void {
    const verdict = this.#different === 0 ? 'all' : `${this.#calls - this.#different} of them`;
    console.log(
      `${this.#calls} calls, ${this.#lines} lines; byte for byte as at ${commit}: ${verdict}`,
    );
    if (this.#different > 0 || this.#calls === 0) process.exitCode = 1;
  }

  /** As JSON, and once for each code and client as text for people. */
  async #explain(call: Call, mode: string): Promise<void> {
    const { stdout } = await this.#ask([...call, '-o', 'json']);
    const { code } = (stdout === '' ? {} : JSON.parse(stdout)) as { code?: string };
    const kind = [mode, code, call[call.indexOf('--from') + 1]].join(' ');
    if (this.#codes.has(kind)) return;
    this.#codes.add(kind);
    await this.#ask(call);
  }

  async #ask(call: Call): Promise<Answer> {
    const { earlier, now } = this.#sides;
    const line = JSON.stringify(call);
    const texts = await Promise.all([earlier.ask(line), now.ask(line)]);
    const [before, answer] = texts.map((text) => JSON.parse(text) as Answer);
    if (!before || !answer) throw new TypeError('two programs give two answers');
    this.#calls++;
    this.#lines += answer.stdout.split('\n').length - 1;
    if (texts[0] === texts[1]) return answer;
    this.#different++;
    console.log(`fairlead ${call.join(' ')}\n${differenceOf(before, answer)}`);
    return answer;
  }
}
