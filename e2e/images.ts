import { LabError } from '../lab/host/errors.ts';
import { run } from '../lab/host/run.ts';
import { TEST_IMAGES } from '../lab/real/images/catalogue.ts';

const LIST_DEADLINE_MS = 60_000;

/**
 * A pod whose image has another tag is never started, and each spec waits five minutes for it: so
 * the names are compared with those that the specs ask for, before a cluster is started.
 */
export async function assertImagesOf(tests: { readonly 'e2e.test': string }): Promise<void> {
  const listed = await run([tests['e2e.test'], '--list-images'], {
    deadlineMs: LIST_DEADLINE_MS,
  });
  const missing = unknownImages(TEST_IMAGES, listed.split('\n'));
  if (missing.length === 0) return;
  throw new LabError('LAB_USAGE', `the specs do not use ${missing.join(', ')}`, {
    next: 'copy the tags of `e2e.test --list-images` to lab/real/images/catalogue.ts',
  });
}

export function unknownImages(ours: readonly string[], listed: readonly string[]): string[] {
  const known = new Set(listed);
  return ours.filter((name) => !known.has(name));
}
