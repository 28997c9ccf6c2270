import { type Command, Option } from 'commander';
import { FIELDS } from '../config/fields/field-table.ts';
import {
  FLAG_NAMES,
  type FlagName,
  fieldFlag,
  isFieldFlag,
  startFlag,
} from '../config/flags/flag-table.ts';
import type { GivenFlags } from '../config/flags/read.ts';

const GROUP = 'Flags of kube-proxy:';

/** Flags in the short help; --help-flags shows all. */
const USUAL_FLAGS: ReadonlySet<FlagName> = new Set<FlagName>([
  'config',
  'kubeconfig',
  'hostname-override',
  'proxy-mode',
  'cluster-cidr',
  'v',
]);

/** Adds every flag of kube-proxy; `givenFlags` reads them after parsing. */
export function addKubeProxyFlags(command: Command): Command {
  const options = FLAG_NAMES.map((name) => ({ name, option: toOption(name) }));
  command.option('--help-flags', `show the help with all ${FLAG_NAMES.length} flags of kube-proxy`);
  for (const { name, option } of options) {
    command.addOption(option.hideHelp(!USUAL_FLAGS.has(name)));
  }
  return command.on('option:help-flags', () => {
    for (const { option } of options) option.hideHelp(false);
    command.help();
  });
}

export function givenFlags(command: Command): GivenFlags {
  const values: Record<string, unknown> = command.opts();
  const given = new Map<FlagName, readonly string[]>();
  for (const name of FLAG_NAMES) {
    const texts = values[toOption(name).attributeName()];
    if (Array.isArray(texts)) given.set(name, texts.map(String));
  }
  return given;
}

/** kube-proxy takes underscores for hyphens in the names of flags, and `-v=2` for `-v 2`. */
export function normalizeArguments(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    if (end !== -1 && index >= end) return arg;
    if (/^-[a-zA-Z]=/.test(arg)) return arg.replace('=', '');
    const [name = ''] = arg.split('=', 1);
    return arg.startsWith('--') ? name.replaceAll('_', '-') + arg.slice(name.length) : arg;
  });
}

function toOption(name: FlagName): Option {
  const { placeholder, about, short } = describe(name);
  const isOptional = placeholder === 'boolean' || name === 'version';
  const value = isOptional ? `[${placeholder}]` : `<${placeholder}>`;
  const option = new Option(`${short === undefined ? '' : `-${short}, `}--${name} ${value}`, about)
    .helpGroup(GROUP)
    .argParser((text: string, earlier: unknown) => [
      ...(Array.isArray(earlier) ? earlier : []),
      text,
    ]);
  return isOptional ? option.preset('true') : option;
}

function describe(name: FlagName): { placeholder: string; about: string; short?: string } {
  if (!isFieldFlag(name)) {
    const { value, about } = startFlag(name);
    return { placeholder: value, about };
  }
  const { sets, short } = fieldFlag(name);
  const [path] = sets;
  if (path === undefined) throw new TypeError(`--${name} sets no field`);
  const { kind, about } = FIELDS[path];
  return {
    placeholder: kind,
    about: `${path}: ${about}`,
    ...(short === undefined ? {} : { short }),
  };
}
