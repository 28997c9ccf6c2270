import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, LOG_LEVELS, type LogRecord } from './logger.ts';

test('passes records on, with their fields if they have any', () => {
  const records: LogRecord[] = [];
  const log = createLogger('debug', (record) => void records.push(record));
  log.info('plain');
  log.warn({ code: 'X' }, 'with a field');
  assert.deepEqual(records, [
    { level: 'info', fields: {}, message: 'plain' },
    { level: 'warn', fields: { code: 'X' }, message: 'with a field' },
  ]);
});

test('discards what is below its level', () => {
  const levels: string[] = [];
  const log = createLogger('warn', ({ level }) => void levels.push(level));
  for (const level of LOG_LEVELS) log[level]('x');
  assert.deepEqual(levels, ['warn', 'error', 'fatal']);
});
