import { CompileError } from '../bpf/compile.ts';
import { ImageError } from './image-error.ts';
import { HelpWanted } from './options.ts';

const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the work; prints an error for the user without its stack. */
export async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HelpWanted) {
      console.log(error.message);
      return;
    }
    process.exitCode = FAILED;
    if (error instanceof CompileError) console.error(error.message);
    else if (error instanceof ImageError) tell(error);
    else throw error;
  }
}

function tell({ message, next, code }: ImageError): void {
  console.error(`${message}\n\n${next} (${code})`);
  if (code === 'IMAGE_USAGE') process.exitCode = WRONG_USAGE;
}
