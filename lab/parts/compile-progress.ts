export interface CompileProgress {
  /** How many packages will be compiled; 0: not known. */
  readonly total: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly detail: (text: string) => void;
}

/** Too few to say how long the others take. */
const ENOUGH_PACKAGES = 20;

/** Takes what `go build -v` prints, a line for each package, and tells how far it is. */
export function compileProgress({ total, now, detail }: CompileProgress): (text: string) => void {
  const startedAt = now();
  let compiled = 0;
  return (text) => {
    compiled += text.split('\n').filter(isPackage).length;
    const of = total > 0 ? ` of ${Math.max(total, compiled)}` : '';
    detail(`${compiled}${of} packages${leftText(total, compiled, now() - startedAt)}`);
  };
}

/** `go: downloading …` and messages of the compiler have spaces. */
function isPackage(line: string): boolean {
  return line !== '' && !line.includes(' ') && !line.startsWith('#');
}

/** Linking comes after the last package, so that the estimate is a little short. */
function leftText(total: number, compiled: number, elapsedMs: number): string {
  if (compiled < ENOUGH_PACKAGES || compiled >= total) return compiled >= total ? ', linking' : '';
  const leftSeconds = ((total - compiled) * elapsedMs) / compiled / 1000;
  return leftSeconds < 60
    ? ', less than a minute left'
    : `, about ${Math.ceil(leftSeconds / 60)} min left`;
}
