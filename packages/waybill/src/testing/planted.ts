import { randomBytes } from 'node:crypto';
import { newKeyId, newSecret } from '@waybill/core';

/** Letters that occur nowhere else. */
const letters = (): string => `pl4nted${randomBytes(9).toString('hex')}`;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** One secret of every kind that a user may have, each with letters of its own. */
export class Planted {
  readonly password = letters();
  readonly keyId = newKeyId();
  readonly apiKey = newSecret(this.keyId);
  readonly awsKeyId = `AKIA${randomBytes(8).toString('hex').toUpperCase()}`;
  readonly awsSecret = letters();
  readonly session = letters();
  readonly signature = letters();
  readonly webhook = `whsec_${Buffer.from(letters()).toString('base64')}`;
  readonly jwt =
    `${encoded({ alg: 'HS256' })}.${encoded({ sub: letters() })}.${Buffer.from(letters()).toString('base64url')}`;

  readonly postgres = `postgres://ada:${this.password}@127.0.0.1:1/jobs`;
  readonly presigned =
    `https://b.s3.amazonaws.com/k?X-Amz-Credential=${this.awsKeyId}%2F1&X-Amz-Signature=${this.signature}`;

  /** All variables of the environment that may hold a secret. */
  get env(): Record<string, string> {
    const { awsKeyId, awsSecret, session, apiKey, password } = this;
    return {
      ...{ AWS_ACCESS_KEY_ID: awsKeyId, AWS_SECRET_ACCESS_KEY: awsSecret, AWS_SESSION_TOKEN: session },
      ...{ WAYBILL_KEY: apiKey, PGPASSWORD: password },
    };
  }

  /** As an error of a driver or a proxy may tell them. */
  get everything(): string {
    const { postgres, presigned, apiKey, jwt, session, webhook, awsSecret, password } = this;
    return [
      ...[`connect ECONNREFUSED ${postgres}`, `GET ${presigned} answered 403`, `sent Authorization: Bearer ${jwt}`],
      ...[`x-api-key: ${apiKey}`, `Cookie: waybill_session=${session}; a=b`, `signed with ${webhook}`],
      ...[`http://${this.awsKeyId}:${awsSecret}@localhost:4566`, `host=db password=${password} user=ada`],
    ].join('\n');
  }

  /** Headers with which callers say who they are, one set each. */
  get headers(): Record<string, string>[] {
    const { apiKey, jwt, session, password } = this;
    return [
      ...[{ Authorization: `Bearer ${apiKey}` }, { 'x-api-key': apiKey }, { Authorization: `Bearer ${jwt}` }],
      ...[{ Cookie: `waybill_session=${session}` }],
      { Authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}` },
    ];
  }

  /** The names of the secrets that stand in a text, as they are or encoded. */
  foundIn(text: string): string[] {
    const { password, awsKeyId, awsSecret, session, signature } = this;
    const whole = { password, awsKeyId, awsSecret, session, signature };
    const parts = {
      // Behind its id, which may be shown.
      apiKey: this.apiKey.slice(-43),
      jwt: this.jwt.split('.')[2]!,
      jwtBody: this.jwt.split('.')[1]!,
      webhook: this.webhook.slice(6),
    };
    return Object.entries({ ...whole, ...parts }).flatMap(([name, secret]) => {
      const forms = [secret, Buffer.from(secret).toString('base64').replace(/=+$/, ''), encodeURIComponent(secret)];
      return forms.some((form) => text.includes(form)) ? [name] : [];
    });
  }
}
