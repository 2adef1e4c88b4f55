import { type Logger, lineLogger } from '@waybill/core';
import { misuse, type Options, type Values } from './command.ts';
import type { Io } from './io.ts';
import { styleFor } from './style.ts';

/** For the commands that go on and log what they meet. */
export const LOG_OPTION = {
  log: { value: 'FORM', about: 'text for people, json for machines', default: 'text at a terminal, else json' },
} as const satisfies Options;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const COLOURS: Readonly<Record<string, string>> = { WARN: 'warn', ERROR: 'fail', INFO: 'ok' };

/** Logs go to stderr. `WAYBILL_LOG` says from which level on. */
export async function commandLogger({ log }: Values<typeof LOG_OPTION>, io: Io): Promise<Logger> {
  if (log !== undefined && log !== 'text' && log !== 'json') throw misuse(`--log must be text or json, not '${log}'.`);
  const level = io.env['WAYBILL_LOG'] ?? 'info';
  if (log === 'text' || (log === undefined && io.isErrTty)) return textLogger(level, io);
  // Loaded here, so that the commands which end at once do not pay for it.
  const { pino } = await import('pino');
  const logger: Logger = pino({ level }, pino.destination({ dest: 2, sync: true }));
  return logger;
}

function textLogger(level: string, io: Io): Logger {
  const style = styleFor({ isTty: io.isErrTty, env: io.env });
  const least = LEVELS.find((one) => one === level) ?? (level === 'trace' ? 'debug' : 'error');
  return lineLogger({
    write: (text) => void io.stderr.write(`${text}\n`),
    now: io.now,
    least,
    head: (word, at) => {
      const name = word.trim();
      const colour = COLOURS[name];
      const time = style.dim(new Date(at).toISOString().slice(11, 23));
      return `${time} ${colour === undefined ? word : style.as(colour, word)} `;
    },
  });
}
