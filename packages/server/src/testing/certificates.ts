import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export interface Certificate {
  cert: string;
  key: string;
}

/** Makes certificates for 127.0.0.1 that sign themselves, in a folder that goes with the test. */
export function certificates(): (name: string) => Certificate {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => {
    const [cert, key] = [path.join(folder, `${name}.crt`), path.join(folder, `${name}.key`)];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
        ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    );
    return { cert, key };
  };
}
