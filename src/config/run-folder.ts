/** Where a running Fairlead keeps what other commands and the next start read. */
export const RUN_FOLDER = '/run/fairlead';
