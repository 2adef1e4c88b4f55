import { cronToWire } from '@waybill/client';
import type { CronRequest } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readObject, readOptionalBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';

/** Schedules that make jobs. */
export function cronRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post('/ojs/v1/cron', async (c) => {
    // The engine checks the request, field by field.
    const request = (await readObject(c, maxBodyBytes)) as unknown as CronRequest;
    const cron = cronToWire(await portOf(c).crons.put(request));
    c.header('Location', `/ojs/v1/cron/${encodeURIComponent(cron.name)}`);
    return answer(c, { cron }, 201);
  });

  app.get('/ojs/v1/cron', async (c) => {
    const found = (await portOf(c).crons.list()).map(cronToWire);
    return answer(c, { crons: found, count: found.length });
  });

  app.get('/ojs/v1/cron/:name', async (c) =>
    answer(c, { cron: cronToWire(await portOf(c).crons.get(pathText(c, 'name'))) }),
  );

  // The suites read `cron`, the specification's clients `deleted` and `name`: both get theirs.
  app.delete('/ojs/v1/cron/:name', async (c) => {
    const cron = cronToWire(await portOf(c).crons.remove(pathText(c, 'name')));
    return answer(c, { deleted: true, name: cron.name, cron });
  });

  for (const [verb, enabled] of [
    ['pause', false],
    ['resume', true],
  ] as const) {
    app.post(`/ojs/v1/cron/:name/${verb}`, async (c) => {
      const name = pathText(c, 'name');
      await readOptionalBody(c, maxBodyBytes);
      return answer(c, { cron: cronToWire(await portOf(c).crons.setEnabled(name, enabled)) });
    });
  }
}
