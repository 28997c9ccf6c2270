import type { SourceClass } from '../../../forwarding/model.ts';

/** What the agent tells a forwarder when it starts it: JSON, the only argument of the program. */
export interface ForwarderArguments {
  readonly runFolder: string;
  /** Told again in `hello`. */
  readonly build: string;
  readonly threadCount: number;
  /** The bit of the packet mark for the return path (return-path.ts). */
  readonly returnMark: number;
  /** Inherited descriptors of sockets that are bound and listen. */
  readonly listeners: readonly StartListener[];
}

export interface StartListener {
  readonly fd: number;
  readonly source: SourceClass;
  readonly isIPv6: boolean;
}

export function argumentsText(given: ForwarderArguments): string {
  return JSON.stringify(given);
}

/** Only the agent writes them, from the same source. */
export function readArguments(text: string | undefined): ForwarderArguments {
  if (text === undefined) throw new TypeError('the forwarder is started by fairlead run only');
  return JSON.parse(text) as ForwarderArguments;
}
