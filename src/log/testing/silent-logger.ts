import { createLogger, type Logger } from '../logger.ts';

/** For what needs a log in a test that reads none. */
export const SILENT_LOGGER: Logger = createLogger('debug', () => undefined);
