import { isDeepStrictEqual } from 'node:util';
import { toRfc3339 } from '@waybill/client';
import { invalidField, type JsonObject, type StoredRecord, type Waybill } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readObject } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { Query } from '../http/query.ts';
import { checkExpected, foundIn, recordsOf } from '../records/record-routes.ts';
import type { Surface } from '../surface.ts';
import { definitionsFor, needScope } from './callers.ts';
import {
  definitionNotFound,
  definitionOf,
  isDefinitionName,
  DEFINITION_KIND as KIND,
  recordOf,
  type TaskDefinition,
} from './definitions.ts';
import { Faults } from './faults.ts';
import { nodesOf } from './task-request.ts';
import { readWork, type TaskWork, WORK_NAMES, workToWire } from './task-work.ts';

const DEFAULT_LIMIT = 100;

/** What tasks do, by name. Whoever reads jobs reads them; to change them takes `admin`. */
export function definitionRoutes(app: App, { maxBodyBytes, clock }: Surface, waybill: Waybill, base: string): void {
  const path = `${base}/task-definitions`;

  app.get(path, async (c) => {
    needScope(c, 'read');
    const page = new Query(c, ['limit', 'cursor']).page(DEFAULT_LIMIT);
    const { items, cursor } = await definitionsFor(c, waybill).list(page);
    return answer(c, { definitions: items.map(toWire), nextCursor: cursor ?? null });
  });

  app.get(`${path}/:name`, async (c) => {
    needScope(c, 'read');
    const definition = await definitionsFor(c, waybill).get(c.req.param('name'));
    c.header('ETag', `"${definition.version}"`);
    return answer(c, toWire(definition));
  });

  app.put(`${path}/:name`, async (c) => {
    const name = nameIn(c);
    c.set('meant', { action: 'task-definitions.change', target: name });
    const before = await foundIn(recordsOf(c), KIND, name);
    const work = workIn(await readObject(c, maxBodyBytes), clock.now());
    const expected = before?.version ?? 0;
    checkExpected(c, 'task definition', expected);
    const value = recordOf(work);
    // The same again is no new version.
    const isSame = before !== null && isDeepStrictEqual(before.value, value);
    const record = isSame ? before : await recordsOf(c).put({ kind: KIND, id: name, value, expected });
    c.header('ETag', `"${record.version}"`);
    return answer(c, toWire(definitionOf(record)));
  });

  app.delete(`${path}/:name`, async (c) => {
    const name = c.req.param('name');
    c.set('meant', { action: 'task-definitions.remove', target: name.slice(0, 64) });
    const record = await mustFind(c, name);
    checkExpected(c, 'task definition', record.version);
    await recordsOf(c).remove(KIND, name, { expected: record.version });
    return answer(c, toWire(definitionOf(record)));
  });
}

function nameIn(c: Ctx): string {
  const name = c.req.param('name') ?? '';
  if (isDefinitionName(name)) return name;
  throw invalidField('name', 'must be 1 to 64 letters, digits, _ and -.');
}

async function mustFind(c: Ctx, name: string): Promise<StoredRecord> {
  const found = await foundIn(recordsOf(c), KIND, isDefinitionName(name) ? name : '-');
  if (found !== null && isDefinitionName(name)) return found;
  throw definitionNotFound(name);
}

/** All that is wrong with a definition at once, as with the task that it would make. */
function workIn(body: JsonObject, now: number): TaskWork {
  const faults = new Faults();
  faults.unknownIn(body, WORK_NAMES, '');
  const work = readWork(body, '', faults);
  if (body['type'] == null)
    for (const name of ['description', 'tag']) if (body[name] == null) faults.add(name, `'${name}' is required.`);
  const own = new Faults();
  nodesOf([{ taskId: 'a', name: 'a', dependsOn: [], input: {}, work }], own, now);
  for (const { field, message } of own.list) faults.add(field.replace('tasks[0].', ''), message);
  faults.check();
  return work;
}

const toWire = ({ name, version, work, createdAt, updatedAt }: TaskDefinition): JsonObject => ({
  ...{ name, version, ...workToWire(work) },
  ...{ createdAt: toRfc3339(createdAt), updatedAt: toRfc3339(updatedAt) },
});
