import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Part } from './part.ts';
import { summaryJson } from './report.ts';
import type { PartResult, Summary } from './results.ts';

/** What has been run of a plan, kept after each part so that an interrupted run can go on. */
export class PlanRecord {
  readonly #file: string;
  readonly #head: Omit<Summary, 'results' | 'notRun'>;
  readonly #parts: readonly Part[];
  readonly #results: Map<string, PartResult>;

  constructor(
    file: string,
    of: {
      readonly head: Omit<Summary, 'results' | 'notRun'>;
      readonly parts: readonly Part[];
      readonly earlier: readonly PartResult[];
    },
  ) {
    this.#file = file;
    this.#head = of.head;
    this.#parts = of.parts;
    this.#results = new Map(of.earlier.map((result) => [result.name, result]));
  }

  async keep(result: PartResult): Promise<void> {
    this.#results.set(result.name, result);
    await mkdir(dirname(this.#file), { recursive: true });
    await writeFile(this.#file, summaryJson(this.summary()));
  }

  /** In the order of the plan. */
  summary(): Summary {
    const names = this.#parts.map(({ name }) => name);
    const results = names.flatMap((name) => this.#results.get(name) ?? []);
    const notRun = names.filter((name) => !this.#results.has(name));
    return { ...this.#head, results, notRun };
  }
}

/** What a file has of the same commit; of another one it says nothing about this. */
export async function readEarlier(
  file: string,
  commit: string | undefined,
): Promise<readonly PartResult[]> {
  if (!existsSync(file)) return [];
  const kept = JSON.parse(await readFile(file, 'utf8')) as {
    commit?: string;
    parts: readonly PartResult[];
  };
  if (kept.commit !== commit) return [];
  return kept.parts.map(({ name, seconds, budgetSeconds, failure }) => ({
    name,
    seconds,
    budgetSeconds,
    ...(failure === undefined ? {} : { failure }),
  }));
}
