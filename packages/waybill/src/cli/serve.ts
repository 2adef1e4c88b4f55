import { pino } from 'pino';
import { readyLine, startHost } from './host.ts';
import { readServeOptions } from './options.ts';
import { untilAskedToStop } from './signals.ts';

/** `waybill serve`: the server alone. Logs go to stderr as JSON; stdout carries the one ready line. */
export async function serve(args: readonly string[]): Promise<void> {
  const options = readServeOptions(args, { store: 'sqlite:./waybill.db' });
  const logger = pino({ level: process.env['WAYBILL_LOG'] ?? 'info' }, pino.destination({ dest: 2, sync: true }));
  const stopped = untilAskedToStop(logger);
  const host = await startHost({ ...options, portGiven: true }, logger);
  process.stdout.write(readyLine(host, options));
  await stopped;
  await host.drain();
}
