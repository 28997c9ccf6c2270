export const STATUS_SOCKET = 'status.sock';
/** A restart of the machine empties /run just as it resets the settings. */
export const SYSCTL_STATE = 'sysctls.json';
/** One byte of it for each network namespace: who has locked it serves there. */
export const RUN_LOCK = 'run.lock';
