import { readdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from './open.ts';
import { QUERY_NAMES, type QueryName, readQuery } from './queries.ts';
import { narrowed } from './read.ts';
import { BY_ID } from './sources.ts';

let db: DatabaseSync;

beforeAll(() => {
  db = openDatabase({ path: ':memory:', durability: 'full', wakeEveryMs: 25, busyTimeoutMs: 1000 });
  return () => db.close();
});

const planOf = (name: QueryName): string[] =>
  db
    .prepare(`explain query plan ${readQuery(name)}`)
    .all()
    .map(({ detail }) => String(detail));

const ONE_ROW = 'SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (tenant=? AND id=?)';

const NEWEST_BATCH = 'SEARCH journal USING COVERING INDEX journal_chain (tenant=? AND job=?)';
const ONE_BATCH = 'SEARCH journal USING COVERING INDEX journal_chain (tenant=? AND job=? AND run=? AND after<?)';

/** Every statement that runs for each job or each sweep, and the only way in which it may find its rows. */
const HOT: [QueryName, string[]][] = [
  ['claim-held', ['SEARCH jobs USING INDEX jobs_active (tenant=? AND claim_id=?)', 'USE TEMP B-TREE FOR ORDER BY']],
  ['claim-ready', ['SEARCH jobs USING INDEX jobs_ready (tenant=? AND queue=? AND rank>?)']],
  ['claim-job', [ONE_ROW]],
  ['apply-by-lease', [ONE_ROW]],
  ['finish-by-lease', [ONE_ROW]],
  ['apply-by-version', [ONE_ROW]],
  ['run-of', [ONE_ROW]],
  ['job-by-id', [ONE_ROW]],
  ['extend-job', [ONE_ROW]],
  ['row-before', [ONE_ROW]],
  ['due', ['SEARCH jobs USING INDEX jobs_due (next_at<?)']],
  ['crons-due', ['SEARCH crons USING INDEX crons_due (next_at<?)']],
  ['limits-due', ['SEARCH limits USING COVERING INDEX limits_due (next_at<?)']],
  ['parked-next', ['SEARCH jobs USING INDEX jobs_parked (tenant=? AND limit_key=?)']],
  ['admit', [ONE_ROW]],
  ['limit-get', ['SEARCH limits USING PRIMARY KEY (tenant=? AND key=?)']],
  ['limit-use', ['SEARCH limits USING PRIMARY KEY (tenant=? AND key=?)']],
  ['queue-gate', ['SEARCH queues USING PRIMARY KEY (tenant=? AND name=?)']],
  ['queue-shift', ['SEARCH queues USING PRIMARY KEY (tenant=? AND name=?)']],
  ['queue-first', ['SEARCH jobs USING INDEX jobs_ready (tenant=? AND queue=? AND rank>?)']],
  ['forget-edges', ['SEARCH edges USING INDEX edges_child (tenant=? AND child=?)']],
  ['workflow-list-in-state', ['SEARCH workflows USING INDEX workflows_state (tenant=? AND state=?)']],
  ['record-get', ['SEARCH records USING INDEX sqlite_autoindex_records_1 (tenant=? AND kind=? AND id=?)']],
  ['record-list', ['SEARCH records USING INDEX sqlite_autoindex_records_1 (tenant=? AND kind=? AND id>? AND id<?)']],
  ['journal-batch', ['SEARCH journal USING INTEGER PRIMARY KEY (rowid=?)']],
  ['journal-grown', ['SEARCH journal USING INTEGER PRIMARY KEY (rowid>?)']],
  ['unique-owner', ['SEARCH unique_keys USING PRIMARY KEY (tenant=? AND key=?)']],
];

const UNDER_AN_EXISTS: [QueryName, string][] = [
  ['parked-any', 'SEARCH jobs USING INDEX jobs_parked (tenant=? AND limit_key=?)'],
  ['parked-count', 'SEARCH jobs USING INDEX jobs_parked (tenant=? AND limit_key=?)'],
  ['workflow-unfinished', 'SEARCH jobs USING INDEX jobs_unfinished (tenant=? AND workflow_id=?)'],
  ['children-free', 'SEARCH other USING COVERING INDEX edges_unmet (tenant=? AND child=?)'],
  ['children-free', 'SEARCH edges USING PRIMARY KEY (tenant=? AND parent=?)'],
  ['children-waiting', 'SEARCH edges USING PRIMARY KEY (tenant=? AND parent=?)'],
  ['parents', 'SEARCH edges USING COVERING INDEX edges_child (tenant=? AND child=?)'],
  ['records-prune', 'SEARCH records USING INDEX records_expiring (expires_at<?)'],
  ['prune-left', 'SEARCH records USING INDEX records_expiring (expires_at<?)'],
  ['prune-limits', 'SEARCH limits USING INDEX limits_unused (used_at<?)'],
  ['prune-limits', 'SEARCH jobs USING INDEX jobs_limited (tenant=? AND limit_key=?)'],
  ['prune-queues', 'SEARCH jobs USING COVERING INDEX jobs_ready (tenant=? AND queue=? AND rank>?)'],
  ['prune-subjects', 'SEARCH subjects USING COVERING INDEX subjects_told (told_at<?)'],
  ['journal-append', ONE_ROW],
  ['journal-append', NEWEST_BATCH],
  ['journal-head', NEWEST_BATCH],
  ['journal-find', 'SEARCH journal USING INDEX journal_chain (tenant=? AND job=? AND (run,after)>(?,?))'],
  ['journal-find', ONE_BATCH],
  ['journal-find-in-run', 'SEARCH journal USING INDEX journal_chain (tenant=? AND job=? AND run=? AND after>?)'],
  ['journal-find-in-run', ONE_BATCH],
  ['journal-forget', NEWEST_BATCH],
  ['journal-oldest', 'SEARCH journal USING INDEX journal_stored (stored_at>? AND stored_at<?)'],
  ['journal-oldest', 'SEARCH newest USING COVERING INDEX journal_chain (tenant=? AND job=?)'],
  ['prune-jobs-next', 'SEARCH jobs USING INDEX jobs_finished (dead=? AND finished_at<?)'],
  ['due-after', 'SEARCH jobs USING COVERING INDEX jobs_due (next_at>?)'],
  ['due-after', 'SEARCH crons USING COVERING INDEX crons_due (next_at>?)'],
  ['due-after', 'SEARCH limits USING COVERING INDEX limits_due (next_at>?)'],
];

describe('query plans', () => {
  it.each(HOT)('%s goes straight to its rows and passes no finished ones', (name, expected) => {
    expect(planOf(name)).toEqual(expected);
  });

  it.each(UNDER_AN_EXISTS)('%s asks its index', (name, expected) => {
    expect(planOf(name)).toContain(expected);
  });

  it('the indexes that hot statements walk hold no finished rows', () => {
    const partial = db.prepare("select name, sql from sqlite_schema where type = 'index' and name in (?, ?, ?, ?)");
    const names = ['jobs_active', 'jobs_due', 'jobs_parked', 'jobs_ready'];
    const conditions = partial.all(...names).map(({ sql }) => /where (.+)$/s.exec(String(sql))?.[1]);
    expect(conditions.sort()).toEqual([
      'next_at is not null',
      'rank is not null',
      "state = 'active'",
      "state = 'available' and rank is null and limit_key is not null",
    ]);
  });

  it.each(['journal-find', 'journal-find-in-run', 'journal-append', 'journal-oldest'] as const)(
    '%s sorts nothing',
    (name) => {
      expect(planOf(name).filter((line) => line.includes('TEMP B-TREE'))).toEqual([]);
    },
  );

  it('no other statement scans a table either', () => {
    for (const name of QUERY_NAMES.filter((name) => name !== 'data-version')) {
      const scans = planOf(name).filter((line) =>
        /^SCAN (?!json_each|own VIRTUAL|asked VIRTUAL|CONSTANT|head|\(subquery)/.test(line),
      );
      expect(scans, name).toEqual(SCANS[name] ?? []);
    }
  });

  it('every file in the folder is used and says what its parameters are', () => {
    const files = readdirSync(new URL('./queries/', import.meta.url)).map((name) => name.replace('.sql', ''));
    expect(files.sort()).toEqual([...QUERY_NAMES].sort());
    for (const name of QUERY_NAMES) {
      const text = readQuery(name);
      expect(text, name).toMatch(/^-- /);
      expect(/\?/.test(text), name).toBe(/^-- Parameters/m.test(text));
    }
  });
});

/**
 * The segments are read from their first on, as far as a limit allows; `sqlite_sequence` has two rows, and of the
 * queues and tenants with a limit only the first is asked for.
 */
const SCANS: Partial<Record<QueryName, string[]>> = {
  // Of the batches only the first is asked for.
  'journal-any': ['SCAN journal USING COVERING INDEX journal_stored', 'SCAN sqlite_sequence'],
  // Workers and queues are few, and an index of their use would have to be written with every beat and every end.
  'note-unused-queues': ['SCAN queues'],
  'prune-left': ['SCAN event_segments'],
  'prune-queues': ['SCAN queues'],
  'prune-subjects': ['SCAN event_segments'],
  'prune-workers': ['SCAN workers'],
  'queues-any-limited': ['SCAN queues USING INDEX queues_limited', 'SCAN tenant_limits'],
  'queues-forgetful': ['SCAN queues USING COVERING INDEX queues_forgetful'],
  'segments-old': ['SCAN event_segments'],
  'segments-span': ['SCAN sqlite_sequence'],
  // For people, and queues are few.
  'tenant-list': ['SCAN queues'],
};

it.each(['list', 'count'] as const)('D11: %s finds the begin of an id as a range of the primary key', (name) => {
  const text = narrowed(readQuery(name), BY_ID.index, BY_ID.where);
  const plan = db.prepare(`explain query plan ${text}`).all();
  const details = plan.map(({ detail }) => String(detail)).filter((detail) => / jobs | TEMP /.test(detail));
  expect(details).toEqual(['SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (tenant=? AND id>? AND id<?)']);
});
