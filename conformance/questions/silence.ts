/** An exchange takes three: the pod hears, the asker hears, and one for a connection to be made. */
const TURNS = 10;

/**
 * Calls back after so many milliseconds of silence, unless the function that it gives is called
 * before. Clients and pods share one event loop. Where that was away for longer than the silence
 * may last, what was said lies in the kernel unheard, and the clock alone would call it silence: so
 * the loop turns a few times first, and hears it.
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
