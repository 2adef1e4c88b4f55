import { ERROR_TABLE } from '@waybill/client';
import { type ErrorCode, withoutSecrets } from '@waybill/core';
import type { Io } from './io.ts';
import { linesWithin } from './text-width.ts';

export interface Refusal {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
}

export const helpHint = (commandName: string): string =>
  commandName === '' ? 'waybill --help lists the commands.' : `waybill ${commandName} --help tells how to use it.`;

/** By its code and not by its class: the remote client has a class of its own. */
export function refusalOf(reason: unknown): Refusal {
  // What a server or a driver said, and what was typed, may hold a secret.
  const message = withoutSecrets(reason instanceof Error ? reason.message : String(reason));
  if (!(reason instanceof Error)) return { code: 'internal', message };
  const { code, hint } = reason as Error & { code?: unknown; hint?: unknown };
  const isOurs = reason.name === 'WaybillError' && typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code);
  if (!isOurs) return { code: 'internal', message };
  return { code: code as ErrorCode, message, ...(typeof hint === 'string' && { hint: withoutSecrets(hint) }) };
}

export const exitCodeOf = (reason: unknown): number => ERROR_TABLE[refusalOf(reason).code].exitCode;

/** Codes whose hint in the table is good advice here too; those of the others speak of requests and jobs. */
const ADVISED: readonly ErrorCode[] = [
  ...(['rate_limited', 'resource_exhausted', 'unavailable', 'timeout'] as const),
  ...(['unauthenticated', 'forbidden'] as const),
];

/** Says what is wrong and what to do, without a stack. Wrong usage always says where to read on. */
export function report(reason: unknown, { stderr, columns }: Io, commandName = ''): void {
  const { code, message, hint: own } = refusalOf(reason);
  const known = ADVISED.includes(code) ? ERROR_TABLE[code].hint : undefined;
  const hint = own ?? (code === 'invalid_request' ? helpHint(commandName) : known);
  const text = `waybill: ${message}\n${hint === undefined ? '' : `  ${hint}\n`}`;
  stderr.write(linesWithin(text, columns() || Number.POSITIVE_INFINITY));
}
