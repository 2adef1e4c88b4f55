import type { Context } from '../context.ts';
import { span } from '../spans.ts';
import type { Check } from './check.ts';

const name = 'clock';
/** Clocks of healthy machines differ by less. */
const TOLERATED_MS = 5_000;
/** When this was written: a clock that shows less was never set. */
const WRITTEN_AT = Date.UTC(2026, 0, 1);

/** Jobs of the future tell that this clock, or that of another machine on the same store, is or was wrong. */
export async function checkClock(context: Context): Promise<Check> {
  const now = context.io.now();
  if (now < WRITTEN_AT) return behind(`it is ${new Date(now).toISOString()} here`);
  const { jobs } = await context.connect();
  const [newest] = (await jobs.list({ limit: 1 })).items;
  const ahead = (newest?.createdAt ?? 0) - now;
  if (ahead > TOLERATED_MS) return behind(`the newest job was created ${span(ahead)} from now`);
  return { name, status: 'ok', message: new Date(now).toISOString() };
}

const behind = (message: string): Check => ({ name, status: 'warn', message, hint: 'Let NTP set the clock.' });

/** By the date that every HTTP answer carries, which is good to a second. */
export async function checkServerClock({ store, io }: Context): Promise<Check> {
  const response = await fetch(new URL('ojs/v1/health', store.endsWith('/') ? store : `${store}/`));
  await response.body?.cancel();
  const theirs = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return { name, status: 'warn', message: 'the server does not tell its time' };
  const apart = Math.abs(theirs - io.now());
  if (apart <= TOLERATED_MS) return { name, status: 'ok', message: 'as the server has it' };
  const hint = 'Let NTP set both clocks.';
  return { name, status: 'warn', message: `${span(apart)} apart from the server`, hint };
}
