import { formatProblem, type Problem } from './config-problem.ts';

export type ConfigErrorCode =
  /** The file cannot be opened or read. */
  | 'CONFIG_UNREADABLE'
  /** The text is not YAML or JSON. */
  | 'CONFIG_SYNTAX'
  /** The file holds no KubeProxyConfiguration, or one of another version. */
  | 'CONFIG_KIND'
  /** Fields or flags have values of the wrong type or outside of what is allowed. */
  | 'CONFIG_INVALID'
  /** inotify is not available for the file. */
  | 'CONFIG_WATCH';

const NEXT: Readonly<Record<ConfigErrorCode, string>> = {
  CONFIG_UNREADABLE: 'check that the file given with --config exists and is readable',
  CONFIG_SYNTAX: 'fix the file at the position named above; it must be YAML or JSON',
  CONFIG_KIND:
    'pass a file with a document of "apiVersion: kubeproxy.config.k8s.io/v1alpha1" and ' +
    '"kind: KubeProxyConfiguration"',
  CONFIG_INVALID:
    'fix the fields and flags named above; `fairlead config` checks them without starting anything',
  CONFIG_WATCH:
    'check fs.inotify.max_user_instances and fs.inotify.max_user_watches, and the permissions of the folder',
};

/** An unusable configuration, with all faults. */
export class ConfigError extends Error {
  readonly code: ConfigErrorCode;
  readonly next: string;
  readonly problems: readonly Problem[];

  constructor(code: ConfigErrorCode, problems: readonly Problem[], cause?: unknown) {
    super(problems.map(formatProblem).join('\n'), cause === undefined ? undefined : { cause });
    this.name = 'ConfigError';
    this.code = code;
    this.next = NEXT[code];
    this.problems = problems;
  }
}
