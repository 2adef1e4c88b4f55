import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const lockOf = (token: string): Buffer => createHmac('sha256', token).update('sealed key').digest();

/** A key that only the holder of the session's token can read again. The token itself is stored nowhere. */
export function seal(secret: string, token: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, lockOf(token), nonce);
  const hidden = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64');
}

/** Undefined: it was sealed with another token, or is damaged. */
export function unseal(sealed: string, token: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, lockOf(token), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
