import { limitToWire } from '@waybill/client';
import { checkLimitRule } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';

/** Limits by key. A job names its key in `options.rate_limit`. */
export function rateLimitRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.get('/ojs/v1/rate-limits/:key', async (c) =>
    answer(c, limitToWire(await portOf(c).limits.get(pathText(c, 'key')))),
  );

  app.put('/ojs/v1/rate-limits/:key', async (c) => {
    const key = pathText(c, 'key');
    const rule = checkLimitRule(await readBody(c, maxBodyBytes));
    return answer(c, limitToWire(await portOf(c).limits.set(key, rule)));
  });
}
