/** A reporter of node:test: which test files took longest, so that the time of them all can be explained. */
import { relative } from 'node:path';

const MOST_SHOWN = 10;

/** The event of node:test when a file has ended; for the whole run the same without a file. */
interface FileEnd {
  readonly type: string;
  readonly data: { readonly file?: string | undefined; readonly duration_ms?: number };
}

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter by its default export
export default async function* slowestFiles(
  events: AsyncIterable<FileEnd>,
): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  for await (const { type, data } of events) {
    if (type !== 'test:summary' || data.file === undefined) continue;
    files.push({ file: relative('.', data.file), seconds: (data.duration_ms ?? 0) / 1_000 });
  }
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, MOST_SHOWN);
  if (files.length <= 1) return;
  yield `\nslowest of ${files.length} test files, side by side with others:\n`;
  for (const { file, seconds } of slowest) yield `${seconds.toFixed(1).padStart(7)} s  ${file}\n`;
}
