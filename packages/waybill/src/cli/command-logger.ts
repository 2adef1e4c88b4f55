import { didYouMean, type Logger, lineLogger, withoutSecrets } from '@waybill/core';
import { misuse, type Options, type Values } from './command.ts';
import type { Io } from './io.ts';
import { harmless } from './log-lines.ts';
import { styleFor } from './style.ts';

/** For the commands that go on and log what they meet. */
export const LOG_OPTION = {
  'log-format': {
    value: 'FORM',
    about: 'pretty for people, json for machines',
    default: 'pretty at a terminal, else json',
  },
} as const satisfies Options;

const FORMS = ['pretty', 'json'] as const;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const COLOURS: Readonly<Record<string, string>> = { WARN: 'warn', ERROR: 'fail', INFO: 'ok' };

/** Logs go to stderr. `WAYBILL_LOG` says from which level on. */
export async function commandLogger({ 'log-format': form }: Values<typeof LOG_OPTION>, io: Io): Promise<Logger> {
  if (form !== undefined && !FORMS.some((one) => one === form))
    throw misuse(`--log-format must be pretty or json, not '${form}'.${didYouMean(form, FORMS)}`);
  const level = levelIn(io.env);
  if (form === 'pretty' || (form === undefined && io.isErrTty)) return prettyLogger(level, io);
  // Loaded here, so that the commands which end at once do not pay for it.
  const { pino } = await import('pino');
  const options = { level, hooks: { streamWrite: withoutSecrets } };
  // PM2 replaces this function in its cluster mode, where descriptor 2 is that of PM2 itself.
  const { stderr } = process;
  const to = Object.hasOwn(stderr, 'write')
    ? { write: (line: string) => void stderr.write(line) }
    : pino.destination({ dest: 2, sync: true });
  const logger: Logger = pino(options, to);
  return logger;
}

const levelIn = (env: Io['env']): string => env['WAYBILL_LOG'] || 'info';

/** Whether lines of the level debug are asked for. What is only logged there need not be made otherwise. */
export const logsDebug = ({ env }: Pick<Io, 'env'>): boolean => ['debug', 'trace'].includes(levelIn(env));

function prettyLogger(level: string, io: Io): Logger {
  const style = styleFor({ isTty: io.isErrTty, env: io.env });
  const least = LEVELS.find((one) => one === level) ?? (level === 'trace' ? 'debug' : 'error');
  const write = (text: string) => void io.stderr.write(`${text}\n`);
  const head = (word: string, at: number) => {
    const name = word.trim();
    const colour = COLOURS[name];
    const time = style.dim(new Date(at).toISOString().slice(11, 23));
    return `${time} ${colour === undefined ? word : style.as(colour, word)} `;
  };
  const logger = lineLogger({ write, now: io.now, least, head });
  if (least !== 'debug' && least !== 'info') return logger;
  const info: Logger['info'] = (fields, message) => {
    if (!isOutput(fields)) return logger.info(fields, message);
    write(head('INFO ', io.now()) + harmless(withoutSecrets(message), style.bold('x') !== 'x'));
  };
  return { ...logger, info };
}

/** What a program has printed: all of it, however much comes in a second, and nothing besides. */
const isOutput = (fields: object): boolean => 'stream' in fields && 'run' in fields;
