import { knownAddresses } from '../run/known-addresses.ts';

const DEADLINE_MS = 5000;

/** Every address of the machine: where node ports can have been served. */
export async function nodePortAddresses(): Promise<readonly string[]> {
  const found = Promise.withResolvers<readonly string[]>();
  const lifetime = new AbortController();
  const deadline = AbortSignal.any([lifetime.signal, AbortSignal.timeout(DEADLINE_MS)]);
  const watching = knownAddresses().run(found.resolve, deadline);
  try {
    return await Promise.race([found.promise, watching.then(() => [])]);
  } finally {
    lifetime.abort();
    await watching;
  }
}
