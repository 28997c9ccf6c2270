import { WINGS } from '../wings/table.ts';

/** Tests that change the machine's network are named so, and run only as root. */
const NEEDS_ROOT = '.root.test.ts';
/** Tests that take minutes are named so, and run only when they are asked for: by .ci/nightly. */
const BY_NIGHT = '.nightly.';
const TEST_FOLDERS = ['src/', 'lab/', 'conformance/', 'e2e/', 'integration/', 'bench/', 'tools/'];

export interface TestPlan {
  readonly run: readonly string[];
  readonly skipped: readonly string[];
}

export interface TestWishes {
  readonly isRoot: boolean;
  /** Parts of paths, of which a file must contain one; none asks for all tests. */
  readonly only: readonly string[];
  /** Tests of the core alone, or all but these. Undefined: all. */
  readonly part?: 'core' | 'others' | undefined;
  /** Files of the core with tests that are skipped where there is no wing: they run with the others too. */
  readonly needingWings?: ReadonlySet<string>;
}

export function planTests(files: readonly string[], wishes: TestWishes): TestPlan {
  const { isRoot, only, part, needingWings } = wishes;
  const isAsked = (file: string): boolean =>
    part === undefined ||
    (part === 'core') === isCore(file) ||
    (part === 'others' && needingWings?.has(file) === true);
  const tests = files.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      TEST_FOLDERS.some((folder) => file.startsWith(folder)) &&
      isAsked(file) &&
      (only.length === 0 ? !file.includes(BY_NIGHT) : only.some((part) => file.includes(part))),
  );
  const mayRun = (file: string): boolean => isRoot || !file.endsWith(NEEDS_ROOT);
  return { run: tests.filter(mayRun), skipped: tests.filter((file) => !mayRun(file)) };
}

function isCore(file: string): boolean {
  const folders = WINGS.flatMap((wing) => wing.folders);
  return file.startsWith('src/') && !folders.some((folder) => file.startsWith(folder));
}
