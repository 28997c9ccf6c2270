/** Where a running Fairlead keeps what other commands, and the next start, look for. */
export const RUN_FOLDER = '/run/fairlead';
export const STATUS_SOCKET = 'status.sock';
/** A restart of the machine empties /run just as it resets the settings. */
export const SYSCTL_STATE = 'sysctls.json';
/** One byte of it for each network namespace: who has locked it serves there. */
export const RUN_LOCK = 'run.lock';
