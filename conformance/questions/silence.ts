/** An exchange takes three event loop iterations: connect, pod reads, client reads. */
const TURNS = 10;

/**
 * Calls back after `ms` milliseconds of silence, unless the returned function is called before.
 * Clients and pods share one event loop. If it was blocked for longer than that, answers may wait
 * unread in the kernel, and the clock alone would call it silence: so a few event loop iterations
 * pass first, which read them.
 */
export function afterSilence(ms: number, callback: () => void): () => void {
  let isOver = false;
  const turn = (left: number): void => {
    if (isOver) return;
    if (left > 0) setImmediate(turn, left - 1);
    else callback();
  };
  const timer = setTimeout(turn, ms, TURNS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
