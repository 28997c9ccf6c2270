import { LabError } from '../host/errors.ts';

/** Kernels that a command can run in, besides the one it is started in. */
const KERNELS = ['uml'];

export interface AskedKernel {
  /** The arguments without `--kernel`. */
  readonly args: readonly string[];
  /** Files and folders that options name, which the command writes. */
  readonly outputs: readonly string[];
}

/** What to run in another kernel; undefined: none is asked for. */
export function askedKernel(
  args: readonly string[],
  outputOptions: readonly string[],
): AskedKernel | undefined {
  const spelled = args.flatMap((arg) =>
    /^--[a-z-]+=/.test(arg)
      ? [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]
      : [arg],
  );
  const at = spelled.indexOf('--kernel');
  if (at === -1) return undefined;
  const name = spelled[at + 1];
  if (name === undefined || !KERNELS.includes(name)) {
    throw new LabError('LAB_USAGE', `no kernel '${name ?? ''}'`, {
      next: `choose one of: ${KERNELS.join(', ')}`,
    });
  }
  const rest = spelled.toSpliced(at, 2);
  const outputs = rest.flatMap((arg, index) => {
    const value = outputOptions.includes(arg) ? rest[index + 1] : undefined;
    return value === undefined ? [] : [value];
  });
  return { args: rest, outputs };
}
