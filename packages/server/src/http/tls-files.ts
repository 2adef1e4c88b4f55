import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { checkNames, type Logger, shownFile, WaybillError } from '@waybill/core';

/** Certificate and key of the server, in files of PEM. */
export interface TlsOptions {
  /** The certificate, with those between it and the root behind it. */
  cert: string;
  key: string;
  /** How often the files are looked at for a change. @defaultValue 5_000 */
  checkEveryMs?: number;
}

export interface TlsPair {
  cert: Buffer;
  key: Buffer;
}

const DEFAULT_CHECK_MS = 5_000;

/** Reads the files, and again whenever they have changed. A pair that is not usable is told, and the old one stays. */
export class TlsFiles {
  readonly #options: TlsOptions;
  readonly #logger: Logger;
  #seen: string;
  #toldOf: string | undefined;
  #broken: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly first: TlsPair;

  constructor(options: TlsOptions, logger: Logger) {
    checkNames("The option 'tls'", options, ['cert', 'key', 'checkEveryMs']);
    for (const field of ['cert', 'key'] as const) {
      if (typeof options[field] === 'string' && options[field] !== '') continue;
      throw new WaybillError('invalid_request', `TLS needs a certificate and its key: '${field}' is missing.`, {
        details: { field: `tls.${field}` },
        hint: 'Pass both --tls-cert and --tls-key.',
      });
    }
    this.#options = options;
    this.#logger = logger;
    this.#seen = this.#state();
    this.first = this.#read();
  }

  /** Until `stop`. */
  watch(use: (pair: TlsPair) => void): void {
    this.#timer = setInterval(() => this.#check(use), this.#options.checkEveryMs ?? DEFAULT_CHECK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(use: (pair: TlsPair) => void): void {
    const state = this.#state();
    if (state === this.#seen) return;
    try {
      use(this.#read());
      this.#seen = state;
      this.#broken = undefined;
      this.#logger.info({ cert: this.#options.cert }, 'The TLS certificate was loaded again.');
    } catch (error) {
      // The two files are rarely replaced in the same moment: only a pair that stays broken is told of, once.
      if (this.#broken === state && this.#toldOf !== state) {
        this.#toldOf = state;
        const { message, hint } = WaybillError.from(error);
        this.#logger.warn({ hint }, `The changed TLS certificate was not loaded, and the old one stays: ${message}`);
      }
      this.#broken = state;
    }
  }

  /** Changes with the files. */
  #state(): string {
    return [this.#options.cert, this.#options.key]
      .map((file) => {
        try {
          const { mtimeMs, size, ino } = statSync(file);
          return `${mtimeMs} ${size} ${ino}`;
        } catch {
          return 'missing';
        }
      })
      .join(' ');
  }

  /** Nothing of the key reaches a message: OpenSSL names the fault alone. */
  #read(): TlsPair {
    const { cert: certFile, key: keyFile } = this.#options;
    const pair = { cert: contentOf('cert', certFile), key: contentOf('key', keyFile) };
    try {
      createSecureContext(pair);
    } catch (cause) {
      const { code = 'not PEM' } = cause as NodeJS.ErrnoException;
      throw new WaybillError(
        'invalid_request',
        `The TLS files ${shownFile(certFile)} and ${shownFile(keyFile)} are no usable pair: ${code}.`,
        {
          hint: 'Give a certificate and its own key, both in PEM and the key without a passphrase.',
          cause,
        },
      );
    }
    return pair;
  }
}

/** The key itself may stand where its file is expected, and an error must not show it: so it has no cause either. */
function contentOf(field: 'cert' | 'key', file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new WaybillError('invalid_request', `Cannot read the TLS file ${shownFile(file)}: ${code}.`, {
      details: { field: `tls.${field}` },
      hint: `--tls-${field} takes the path of a file that this process may read, and not its content.`,
    });
  }
}
