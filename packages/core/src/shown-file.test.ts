import { expect, test } from 'vitest';
import { shownFile } from './shown-file.ts';

test.each(['/etc/waybill/tls.key', './own.key', 'server.pem', '/Etc/TLS/Server.crt', import.meta.filename])(
  '%s is shown: it is the path of a file, there or not',
  (file) => expect(shownFile(file)).toBe(file),
);

test.each([
  ['-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIBVsm\n-----END PRIVATE KEY-----'],
  ['MC4CAQAwBQYDK2VwBCIEIBVsm1rO/9TmxkZ7M/m9YzW'],
  ['wb_k7mqx2abcdef_hunter2hunter2'],
])('%j is masked: it may be the secret itself', (text) => expect(shownFile(text)).toBe('***'));
