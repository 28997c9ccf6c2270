import { argvOnHost } from '../commands/enter.ts';
import { fairleadArgv } from '../commands/fairlead.ts';
import { LabError } from '../host/errors.ts';
import type { Progress } from '../host/progress.ts';
import { type RunResult, tryRun } from '../host/run.ts';
import { until } from '../host/until.ts';
import type { Lab } from '../lab.ts';
import { provideTool } from '../parts/build.ts';
import { capture } from './capture.ts';
import type { Acts, CommandOptions, Stage } from './chapter.ts';
import { type Entry, joinLines } from './story.ts';

/** The cluster that a chapter acts on: a lab, or one with real nodes. */
interface Place {
  readonly name: string;
  readonly adminKubeconfig: string;
}

interface Telling {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
  tell(entry: Entry): void;
}

export interface ActsContext extends Place, Telling {}

export interface StageContext extends Telling {
  readonly lab: Lab;
}

type Argv = readonly [string, ...string[]];

const COMMAND_DEADLINE_MS = 60_000;
const UNTIL_DEADLINE_MS = 20_000;
const ADMIN = 'fabric';

/** Runs what a chapter asks for and tells each step as soon as it is done. */
export function makeStage({ lab, ...telling }: StageContext): Stage {
  const { tell } = telling;
  const place = { name: lab.name, adminKubeconfig: lab.credentials.adminKubeconfig };
  const context = { ...place, ...telling };
  return {
    ...makeActs(context),
    lab,
    fairlead: async (host, typed, options) => {
      const argv = fairleadArgv({ lab: lab.name, role: host }, words(typed));
      const shown = `fairlead ${typed}`;
      return perform(
        { host, typed: shown, options, argv: await enter(place, host, argv) },
        context,
      );
    },
    tcpdump: async (host, typed, meanwhile) => {
      const output = await capture({ lab, host, typed, meanwhile });
      tell({ kind: 'command', command: { host, typed: `tcpdump ${typed}`, output } });
      return output;
    },
  };
}

/** What works in every cluster. */
export function makeActs(context: ActsContext): Acts {
  const { adminKubeconfig, progress, signal, tell } = context;
  return {
    say: (text) => tell({ kind: 'text', text: joinLines(text) }),
    table: (rows) => tell({ kind: 'table', rows }),
    on: async (host, typed, options) => {
      const argv = await enter(context, host, ['sh', '-c', typed]);
      return perform({ host, typed, options, argv }, context);
    },
    kubectl: async (typed, options) => {
      const kubectl = await provideTool('kubectl', { progress, signal });
      const argv = [kubectl, `--kubeconfig=${adminKubeconfig}`, ...words(typed)] as const;
      const entered = await enter(context, ADMIN, argv);
      const shown = `kubectl ${typed}`;
      return perform({ host: undefined, typed: shown, options, argv: entered }, context);
    },
    untilAnswers: async (host, typed) => {
      const argv = await enter(context, host, ['sh', '-c', typed]);
      const succeeds = async () => (await tryRun(argv, { signal })).exitCode === 0;
      await until(succeeds, { what: `\`${typed}\` on ${host}`, deadlineMs: UNTIL_DEADLINE_MS });
    },
    check: (fact, holds) => {
      if (!holds) throw failed(`this does not hold: ${fact}`);
      tell({ kind: 'fact', text: fact });
    },
  };
}

function enter({ name }: Place, role: string, argv: Argv): Promise<Argv> {
  return argvOnHost({ lab: name, role }, argv);
}

async function perform(command: Performed, { signal, tell }: Telling): Promise<string> {
  const { host, typed, argv, options = {} } = command;
  const environment = { COLUMNS: '80', NO_COLOR: '1' };
  const result = await tryRun(argv, { env: environment, deadlineMs: COMMAND_DEADLINE_MS, signal });
  tell({ kind: 'command', command: { host, typed, output: told(result, options) } });
  assertExit(command, result);
  if (options.shows !== undefined) tell({ kind: 'fact', text: options.shows });
  return result.stdout;
}

interface Performed {
  readonly host: string | undefined;
  readonly typed: string;
  readonly argv: Argv;
  readonly options?: CommandOptions | undefined;
}

function told({ stdout, stderr }: RunResult, { keep = () => true }: CommandOptions): string {
  const lines = `${stdout}${stderr}`.trimEnd().split('\n');
  return lines.filter(keep).join('\n');
}

function assertExit({ typed, options }: Performed, result: RunResult): void {
  const wanted = options?.exits ?? 0;
  if (result.exitCode === wanted) return;
  throw failed(`\`${typed}\` exited with ${result.exitCode}, not ${wanted}: ${result.stderr}`);
}

function words(typed: string): string[] {
  return typed.split(' ').filter((word) => word !== '');
}

function failed(what: string): LabError {
  return new LabError('LAB_TOUR', what, {
    next: 'play the chapter again with --keep and look at the lab that it leaves',
  });
}
