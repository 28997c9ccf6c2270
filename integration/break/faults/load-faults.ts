import type { Fault } from './fault.ts';

const BURST_SERVICES = 5_000;
const EVENTS_PER_SERVICE = 4;
const SLOW_MS = 0.5;

/** What happens when more comes than can be read. */
export const LOAD_FAULTS: readonly Fault[] = [
  {
    name: 'slow reader',
    done: `${BURST_SERVICES * EVENTS_PER_SERVICE} changes as fast as the store accepts them, each taking the reader ${SLOW_MS} ms`,
    way: 'straight',
    async happen(scene, { observation }) {
      observation.onChange = () => standStill(SLOW_MS);
      await scene.changes.burst(BURST_SERVICES);
    },
  },
];

function standStill(ms: number): void {
  const from = performance.now();
  while (performance.now() - from < ms);
}
