import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ImageError } from './image-error.ts';

/** What a user gets who asks for help, or who is wrong. */
export class HelpWanted extends Error {
  override readonly name = 'HelpWanted';
}

/** Reads options; `--help` throws the usage, and an unknown option names it. */
export function readOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  { options, usage }: { readonly options: T; readonly usage: string },
) {
  if (args.includes('--help') || args.includes('-h')) throw new HelpWanted(usage);
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ImageError('IMAGE_USAGE', error.message, usage);
  }
}
