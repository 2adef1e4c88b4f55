import { parseArgs } from 'node:util';
import { WaybillError } from '@waybill/core';

export interface ServeOptions {
  store: string;
  host: string;
  port: number;
  /** Whether the port was named by the user; `dev` may take another one if not. */
  portGiven: boolean;
  noAuth: boolean;
  requireLease: boolean;
}

const DEFAULT_PORT = 8080;

/** Flags beat the environment, which beats the defaults. */
export function readServeOptions(args: readonly string[], defaults: { store: string }): ServeOptions {
  const { values } = parse(args);
  const port = values.port ?? process.env['WAYBILL_PORT'];
  return {
    store: values.store ?? process.env['WAYBILL_STORE'] ?? defaults.store,
    host: values.host ?? process.env['WAYBILL_HOST'] ?? '127.0.0.1',
    port: port === undefined ? DEFAULT_PORT : readPort(port),
    portGiven: port !== undefined,
    noAuth: values['no-auth'] ?? false,
    requireLease: values['require-lease'] ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        store: { type: 'string' },
        host: { type: 'string' },
        port: { type: 'string' },
        'no-auth': { type: 'boolean' },
        'require-lease': { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new WaybillError('invalid_request', (error as Error).message, { hint: 'waybill --help lists the options.' });
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new WaybillError('invalid_request', `The port must be a number from 0 to 65535, not '${text}'.`);
}
