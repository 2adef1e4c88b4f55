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
