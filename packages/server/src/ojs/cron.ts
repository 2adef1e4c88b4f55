import { cronJobToWire, cronToWire } from '@waybill/client';
import { type CronRecord, type CronRequest, invalidField } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readObject, readOptionalBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { PAGE_PARAMETERS, pageOf } from './pagination.ts';

/** The suites read `cron`, the clients of the specification's HTTP binding `cron_job`, which has other words. */
const told = (cron: CronRecord) => ({ cron: cronToWire(cron), cron_job: cronJobToWire(cron) });

/** Schedules that make jobs. */
export function cronRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post('/ojs/v1/cron', async (c) => {
    // The engine checks the request, field by field.
    const request = (await readObject(c, maxBodyBytes)) as unknown as CronRequest;
    const cron = await portOf(c).crons.put(request);
    c.header('Location', `/ojs/v1/cron/${encodeURIComponent(cron.name)}`);
    return answer(c, told(cron), 201);
  });

  app.get('/ojs/v1/cron', async (c) => {
    const query = new Query(c, PAGE_PARAMETERS);
    const { items, pagination } = pageOf(query, await portOf(c).crons.list());
    const crons = items.map(cronToWire);
    return answer(c, { crons, cron_jobs: items.map(cronJobToWire), count: crons.length, pagination });
  });

  app.get('/ojs/v1/cron/:name', async (c) => answer(c, told(await portOf(c).crons.get(pathText(c, 'name')))));

  app.delete('/ojs/v1/cron/:name', async (c) => {
    const cron = await portOf(c).crons.remove(pathText(c, 'name'));
    return answer(c, { deleted: true, name: cron.name, ...told(cron) });
  });

  app.patch('/ojs/v1/cron/:name', async (c) => {
    const name = pathText(c, 'name');
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(['enabled']);
    const enabled = body.boolean('enabled');
    if (enabled === undefined) throw invalidField('enabled', 'is required.');
    return answer(c, told(await portOf(c).crons.setEnabled(name, enabled)));
  });

  for (const [verb, enabled] of [
    ['pause', false],
    ['resume', true],
  ] as const) {
    app.post(`/ojs/v1/cron/:name/${verb}`, async (c) => {
      const name = pathText(c, 'name');
      await readOptionalBody(c, maxBodyBytes);
      return answer(c, told(await portOf(c).crons.setEnabled(name, enabled)));
    });
  }
}
