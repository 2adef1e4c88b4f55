import { WaybillError } from './errors.ts';

/** The shape of pino's methods, so that a pino logger fits as it is and the packages need no dependency. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = () => {};

/** For those who want to hear of nothing, not even of failed jobs. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Told when it is given, and not in the middle of the first job. */
export function checkLogger(logger: Logger | null | undefined): void {
  if (logger === undefined) return;
  const missing = LOG_LEVELS.find((level) => typeof logger?.[level] !== 'function');
  if (missing === undefined) return;
  const problem = logger === null ? 'is null' : `has no method '${missing}'`;
  throw new WaybillError('invalid_request', `The option 'logger' ${problem}.`, {
    hint: 'Give a logger with debug, info, warn and error, such as one of pino, or silentLogger.',
  });
}
