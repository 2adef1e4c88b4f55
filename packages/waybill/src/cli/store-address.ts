import { existsSync } from 'node:fs';
import { type Clock, type Logger, type Waybill, WaybillError } from '@waybill/core';
import { withoutSecrets } from '../connect/address.ts';
import { open } from '../sdk/open.ts';

export const isRemote = (address: string): boolean => /^https?:\/\//i.test(address);

/** The file behind an address as `openStore` reads it; null where there is none. */
export function fileOf(address: string): string | null {
  if (!address.startsWith('sqlite:')) return null;
  const path = address
    .slice('sqlite:'.length)
    .split('?', 1)[0]!
    .replace(/^\/\/(?=[^/])/, '');
  return path === '' || path === ':memory:' ? null : path;
}

export interface Opening {
  clock: Clock;
  /** Whether a file that does not exist is made. Where it is only asked about, making it would hide a mistyped path. */
  create: boolean;
  /** Whether this process also does upkeep; a command that ends at once leaves it to the servers. */
  maintenance: boolean;
  transport: string;
  blobs: string | undefined;
  /** @defaultValue stderrLogger */
  logger?: Logger | undefined;
}

/** A server over HTTP, or the engine itself on a store. */
export async function openWaybill(
  address: string,
  { clock, create, maintenance, transport, blobs, logger }: Opening,
): Promise<Waybill> {
  const file = fileOf(address);
  if (!create && file !== null && !existsSync(file)) {
    throw new WaybillError('not_found', `There is no store ${withoutSecrets(address)}.`, {
      hint: 'Name it with --store or WAYBILL_STORE; `waybill migrate` makes a new one.',
    });
  }
  return open(address, {
    ...{ clock, create, transport, engine: { maintenance } },
    ...(blobs !== undefined && { blobs }),
    ...(logger !== undefined && { logger }),
  });
}
