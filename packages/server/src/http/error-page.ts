import { ERROR_TABLE, ERRORS_PATH } from '@waybill/client';
import { ERROR_CODES, WaybillError } from '@waybill/core';
import { answer } from './answer.ts';
import type { App } from './env.ts';

/** Where `docs_url` of a refusal leads: what the code means here, for anybody. */
export function errorRoutes(app: App): void {
  app.get(`${ERRORS_PATH}:code`, (c) => {
    const code = ERROR_CODES.find((one) => one === c.req.param('code'));
    if (code === undefined) {
      throw new WaybillError('not_found', 'There is no such error code.', { details: { codes: [...ERROR_CODES] } });
    }
    const { status, hint } = ERROR_TABLE[code];
    return answer(c, { error: { code, status, retryable: new WaybillError(code, '').retryable, hint } });
  });
}
