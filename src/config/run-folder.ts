/** Where a running Fairlead keeps what other commands and the next start read. */
export const RUN_FOLDER = '/run/fairlead';

export const STATUS_SOCKET = 'status.sock';
/** What the last run of the agent noted. */
export const HISTORY_FILE = 'history.jsonl';
/** Below /run, because a reboot resets the sysctls as well. */
export const SYSCTL_STATE = 'sysctls.json';
/** One byte for each network namespace; the process that serves there has it locked. */
export const RUN_LOCK = 'run.lock';
