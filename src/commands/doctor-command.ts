import { Command, Option } from 'commander';
import { RUN_FOLDER } from '../config/run-folder.ts';
import type { Verdict } from '../doctor/doctor-report.ts';
import { writeBundle } from './doctor/bundle.ts';
import { doctorView } from './doctor/doctor-text.ts';
import { reportOn } from './doctor/examine.ts';
import { readPatient } from './doctor/examined-subject.ts';
import { printJson, printNote, printPage } from './terminal/print.ts';

interface DoctorOptions {
  readonly bundle?: string;
  readonly runFolder: string;
  readonly verbose?: true;
  readonly output: 'text' | 'json';
}

const USUAL_WIDTH = 80;
const LEAST_WIDTH = 40;
const EXITS: Readonly<Record<Verdict, number>> = { healthy: 0, incomplete: 1, problems: 3 };

/** `fairlead doctor`: everything on this machine that would break Services. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      `find what on this machine would break Services, and change nothing; exit code ${EXITS.problems} if there are problems, ${EXITS.incomplete} if none was found but not everything could be checked`,
    )
    .option('-v, --verbose', 'also show the checks that passed')
    .option(
      '--bundle <file>',
      'also write a .tar.gz with configuration, status, differences, rules, metrics and log, without credentials',
    )
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'))
    .action(examine);
}

async function examine(options: DoctorOptions): Promise<void> {
  const patient = await readPatient(options.runFolder);
  const report = await reportOn(patient);
  // Some terminals say that they have no columns.
  const width = Math.max(LEAST_WIDTH, process.stdout.columns || USUAL_WIDTH);
  if (options.output === 'json') printJson(report);
  else printPage(doctorView(report, { isVerbose: options.verbose === true, width }));
  if (options.bundle !== undefined) {
    const text = doctorView(report, { isVerbose: true, width: USUAL_WIDTH });
    await writeBundle(options.bundle, { report, text, patient });
    printNote(`wrote ${options.bundle}: no credentials are in it, addresses and names are`);
  }
  process.exitCode = EXITS[report.verdict];
}
