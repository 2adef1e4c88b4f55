import { expect, test } from 'vitest';
import { COMMANDS } from './commands/index.ts';
import { Terminal } from './testing/terminal.ts';

const terminal = () => new Terminal('sqlite::memory:');

test('--help lists every command', async () => {
  expect(await terminal().text('--help')).toMatchInlineSnapshot(`
    "
    waybill: background jobs where the row is the truth and the queue is only a hint

    Usage
      waybill COMMAND [options]
      waybill COMMAND --help
      waybill --version

    Servers and workers
      waybill serve                  run the server
      waybill dev [MODULE]           run the server with a worker beside it, and
                                     show what happens
      waybill work [MODULE]          run a worker on the tasks of an ES module, or
                                     on programs
      waybill cloud                  run SQS, S3, DynamoDB and EventBridge locally
      waybill config check [FILE]    check the configuration file
      waybill config show            show which settings count, and where each comes
                                     from

    Jobs
      waybill enqueue TYPE [ARGS-JSON…]
                                     enqueue a job; each argument is one JSON value
      waybill exec -- PROGRAM [ARG…]
                                     run a program as a job, by a worker with --exec
      waybill jobs list              list jobs, newest first
      waybill jobs show ID           show a job with its errors and everything that
                                     happened to it
      waybill explain ID             say why a job does not run, and what to do
                                     about it
      waybill logs JOB               show what the runs of a job have said
      waybill jobs cancel ID…        cancel jobs that have not finished
      waybill jobs retry ID…         run finished jobs again with all their attempts
      waybill outbox show FOLDER     show what waits in the outbox of workers
      waybill questions list         list what jobs ask
      waybill questions show ID      show a question with its facts and its answer
      waybill questions answer ID ANSWER
                                     answer a question, so that its job goes on
      waybill queues list            list the queues with what is in them
      waybill queues show NAME       show how many jobs a queue has, by state
      waybill queues pause NAME      let a queue take jobs and give none
      waybill queues resume NAME     let a paused queue give out jobs again
      waybill queues keep NAME KEEP  keep or forget the jobs that complete
      waybill dead list              list dead letters: jobs that were given up and
                                     kept for repair
      waybill dead replay [ID…]      let dead letters start over with all their
                                     attempts
      waybill dead discard [ID…]     take dead letters out of the set; retention
                                     removes their rows
      waybill tail                   follow what happens until Ctrl-C

    Schedules and workflows
      waybill cron list              list the schedules
      waybill cron add NAME EXPRESSION [ARGS-JSON…]
                                     create a schedule, or replace the one with this
                                     name
      waybill cron pause NAME        keep a schedule from firing
      waybill cron resume NAME       let a paused schedule fire again
      waybill cron remove NAME       remove a schedule; the jobs that it made stay
      waybill workflows list         list workflows, newest first
      waybill workflows submit FILE  create a workflow from a file; - for stdin
      waybill workflows show ID      show a workflow as a tree, with states and
                                     durations
      waybill workflows cancel ID    let no further node of a workflow start
      waybill workflows resume ID    run the failed nodes of a workflow again
      waybill workflows approve ID NODE
                                     approve a node that is in review
      waybill workflows revise ID NODE FEEDBACK
                                     let a node in review run again, with feedback
      waybill workflows signal ID NAME [DATA-JSON]
                                     send a signal that a node waits for

    Care
      waybill keys list              list the API keys, those that ended in the last
                                     30 days included
      waybill keys create NAME       make an API key; its secret is the last line,
                                     and is shown once
      waybill keys show ID           show what an API key allows, and when it was
                                     last used
      waybill keys rotate ID         give an API key a new secret, which is the last
                                     line, and is shown once
      waybill keys revoke ID         end an API key; no server takes it any more
                                     within 5 seconds
      waybill keys rotate-tokens     sign lease tokens with a new key; those of the
                                     key before stay valid
      waybill tenants list           list the tenants with their limits
      waybill tenants show NAME      show what a tenant has and what it may have
      waybill tenants limit NAME     set what a tenant may have; for operators
      waybill budgets list           list the budgets with what is spent and left
      waybill budgets set [KEY]      limit what the jobs of a tenant or of a key may
                                     use together
      waybill budgets show ID        show a budget with what is spent and left
      waybill budgets remove ID      remove a budget, and forget what was spent
      waybill webhooks list          list the webhooks and how their delivery stands
      waybill webhooks create URL    send events to an address; prints its secret
                                     once
      waybill webhooks show ID       show what a webhook gets, and how that goes
      waybill webhooks test ID       send a test event now; exit 1 when it fails
      waybill webhooks redeliver ID  send events again, under the same ids
      waybill webhooks pause ID      send nothing until it is resumed
      waybill webhooks resume ID     go on where a webhook stopped
      waybill webhooks rotate-secret ID
                                     make a new secret, and print it once
      waybill webhooks remove ID     remove a webhook
      waybill audit                  show which key did what, and when
      waybill doctor                 look for what could go wrong; exit 1 when
                                     something has
      waybill health [JOB]           look at jobs, queues, schedules and workers;
                                     exit 1 when critical
      waybill health test-fire       send a test alert through each sink; exit 1
                                     when one failed
      waybill migrate                bring the schema of a store up to date, or make
                                     a new store

    Environment
      WAYBILL_STORE                  where jobs are kept, when no --store says so
      WAYBILL_TENANT                 whose jobs and queues, when no --tenant says so
      WAYBILL_KEY                    API key for a server that asks for one
      WAYBILL_CONFIG                 the configuration file of serve, dev and work
      NO_COLOR                       no colours, also at a terminal

    Exit codes
        0 done                  1 failed                2 invalid_request
        3 invalid_payload       4 validation_error      5 payload_too_large
        6 unsupported           7 not_found             8 conflict
        9 duplicate            10 lease_lost           11 queue_paused
       12 rate_limited         13 resource_exhausted   14 unavailable
       15 timeout              16 unauthenticated      17 forbidden
       18 payload_missing     130 interrupted
    "
  `);
  expect(await terminal().text('help')).toBe(await terminal().text());
});

test('a group has help, and each command its own', async () => {
  expect(await terminal().text('queues', '--help')).toMatchInlineSnapshot(`
    "
    Usage
      waybill queues COMMAND [options]

    Commands
      waybill queues list            list the queues with what is in them
      waybill queues show NAME       show how many jobs a queue has, by state
      waybill queues pause NAME      let a queue take jobs and give none
      waybill queues resume NAME     let a paused queue give out jobs again
      waybill queues keep NAME KEEP  keep or forget the jobs that complete
    "
  `);
  expect(await terminal().text('jobs', 'list', '--help')).toMatchInlineSnapshot(`
    "
    Usage
      waybill jobs list [options]

    List jobs, newest first.

    Options
      --state STATES  scheduled, available, pending, active, completed, retryable,
                      cancelled, discarded; several with commas
      --queue NAMES   only of these queues
      --type TYPES    only of these types
      --limit N       how many, 1 to 1000 [50]
      --cursor TEXT   go on where the page before ended
      --watch         draw it again when something changes, until Ctrl-C; at a
                      terminal
      --store URL     sqlite:FILE, postgres://.., dynamodb://.. or http(s)://HOST
                      [WAYBILL_STORE, sqlite:./waybill.db]
      --tenant NAME   whose jobs and queues [WAYBILL_TENANT, the one without a name]
      --key SECRET    API key for a server; prefer the variable, since other users
                      see arguments [WAYBILL_KEY, none]
      --json          print JSON in the words of the HTTP interface
      --help          show this

    Exit codes
        0 done                  1 failed                2 invalid_request
        3 invalid_payload       4 validation_error      5 payload_too_large
        6 unsupported           7 not_found             8 conflict
        9 duplicate            10 lease_lost           11 queue_paused
       12 rate_limited         13 resource_exhausted   14 unavailable
       15 timeout              16 unauthenticated      17 forbidden
       18 payload_missing     130 interrupted
    "
  `);
  expect(await terminal().text('help', 'serve')).toMatchInlineSnapshot(`
    "
    Usage
      waybill serve [options]

    Run the server.

    A store address may end in ?durability=normal, which trades the last moments
    before a power cut for speed.

    Options
      --host ADDRESS            address to listen on [WAYBILL_HOST, 127.0.0.1]
      --port N                  port to listen on; 0 takes any free one
                                [WAYBILL_PORT, 8080]
      --grpc-port N             port for gRPC; 0 takes any free one
                                [WAYBILL_GRPC_PORT, none]
      --auth                    ask for keys on loopback too [WAYBILL_AUTH, beyond
                                loopback]
      --no-auth                 take calls without a key, also beyond loopback
      --keys FILE               take keys of this file too [WAYBILL_KEYS: the keys
                                themselves]
      --token-secret FILE       sign lease tokens with the secret in this file
                                [WAYBILL_TOKEN_SECRET: itself; a key in the store]
      --jwt-issuer ISS          take tokens of this issuer [WAYBILL_JWT_ISSUER,
                                none]
      --jwt-audience AUD        that are for this audience [WAYBILL_JWT_AUDIENCE]
      --jwt-jwks URL            its public keys: https://.. or FILE
                                [WAYBILL_JWT_JWKS]
      --jwt-tenant NAME         of tokens that name none [WAYBILL_JWT_TENANT,
                                refused]
      --session-hours N         how long a session lasts [WAYBILL_SESSION_HOURS, 12]
      --requests-per-minute N   of each key that has no limit of its own
                                [WAYBILL_REQUESTS_PER_MINUTE, any]
      --open-requests N         requests of each key under way at once
                                [WAYBILL_OPEN_REQUESTS, half of the connections]
      --cors-origin URL         let pages of this origin call; may be repeated
                                [WAYBILL_CORS_ORIGINS, none]
      --tls-cert FILE           speak HTTPS with this certificate [WAYBILL_TLS_CERT,
                                HTTP]
      --tls-key FILE            and its key; changed files are read again
                                [WAYBILL_TLS_KEY]
      --trust-proxy             believe X-Forwarded-* of proxies
                                [WAYBILL_TRUST_PROXY, no]
      --proxy-address RANGE     who is a proxy; may be repeated
                                [WAYBILL_PROXY_ADDRESSES, private addresses]
      --allow-host NAME         accept this Host besides localhost; may be repeated
                                [WAYBILL_ALLOWED_HOSTS, none]
      --max-connections N       connections at the same time; beyond them idle ones
                                go [WAYBILL_MAX_CONNECTIONS, 10000]
      --transport URL           what carries hints: poll or sqs://REGION/PREFIX
                                [WAYBILL_TRANSPORT, poll]
      --blobs URL               where large payloads go: file:FOLDER or
                                s3://BUCKET/PREFIX [WAYBILL_BLOBS, nowhere]
      --event-bus NAME          send what happens to this bus of EventBridge
                                [WAYBILL_EVENT_BUS, none]
      --event-app APP           the application that these events are of
                                [WAYBILL_EVENT_APP, waybill]
      --metrics                 show metrics at /metrics, for Prometheus
                                [WAYBILL_METRICS]
      --require-lease           refuse to settle or speak for a run without its
                                lease token
      --test-directives         let jobs steer their workers, for conformance
                                suites; on loopback only
      --webhook-target RANGE    let webhooks go to this private range, over plain
                                http too; may be repeated [WAYBILL_WEBHOOK_TARGETS,
                                none]
      --allow-private-webhooks  let webhooks go to private ranges and over plain
                                http
      --store URL               sqlite:FILE, postgres://.. or
                                dynamodb://REGION/TABLE [WAYBILL_STORE,
                                sqlite:./waybill.db]
      --log-format FORM         pretty for people, json for machines [pretty at a
                                terminal, else json]
      --config FILE             the configuration file [WAYBILL_CONFIG,
                                waybill.config.* here]
      --env-file FILE           variables in lines of NAME=value; the environment
                                beats them [none]
      --help                    show this

    Exit codes
      0 stopped as asked  1 failed            2 wrong usage       130 second Ctrl-C
    "
  `);
  for (const { name } of COMMANDS) {
    const { code, out } = await terminal().run(...name.split(' '), '--help');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`Usage\n  waybill ${name}`) });
  }
});

test('no line of help is wider than a terminal', async () => {
  const pages = await Promise.all(COMMANDS.map(({ name }) => terminal().text(...name.split(' '), '--help')));
  const lines = [...pages, await terminal().text('--help')].flatMap((page) => page.split('\n'));
  expect(lines.filter(({ length }) => length > 120)).toEqual([]);
});

test('wrong usage exits with 2, prints nothing to stdout and says what to do', async () => {
  const transcript: string[] = [];
  for (const args of [
    ['frobnicate'],
    ['job', 'list'],
    ['jobs', 'frobnicate'],
    ['jobs', 'show'],
    ['jobs', 'show', 'a', 'b'],
    ['jobs', 'list', '--frob'],
    ['jobs', 'list', '--state', 'dead'],
    ['jobs', 'list', '--limit', '0'],
    ['jobs', 'list', '--limit'],
    ['enqueue'],
    ['enqueue', 'a.b', '{oops'],
    ['enqueue', 'a.b', '--meta', '[]'],
    ['enqueue', 'a.b', '--delay', 'soon'],
    ['enqueue', 'a.b', '--priority', 'high'],
    ['enqueue', 'a.b', '--timeout', '1s'],
    ['enqueue', 'A B'],
    ['queues', 'pause', 'No Queue'],
    ['tail', '--event', 'exploded'],
    ['jobs', 'list', '--store', 'redis://localhost'],
    ['serve', '--port', 'eighty'],
    ['work'],
    ['work', './no-such-module.js'],
  ]) {
    const { code, out, err } = await terminal().run(...args);
    expect({ args, code, out }).toEqual({ args, code: 2, out: '' });
    expect(err).toMatch(/^waybill: .+\n {2}.+\n$/);
    transcript.push(`$ waybill ${args.join(' ')}\n${err.replaceAll(process.cwd(), '.')}`);
  }
  expect(`\n${transcript.join('')}`).toMatchInlineSnapshot(`
    "
    $ waybill frobnicate
    waybill: There is no command 'frobnicate'.
      waybill --help lists them.
    $ waybill job list
    waybill: There is no command 'job'.
      Did you mean 'waybill jobs'?
    $ waybill jobs frobnicate
    waybill: There is no command 'jobs frobnicate'.
      waybill jobs --help lists them.
    $ waybill jobs show
    waybill: 'waybill jobs show' needs ID.
      waybill jobs show --help tells how to use it.
    $ waybill jobs show a b
    waybill: 'waybill jobs show' does not take 'b'.
      waybill jobs show --help tells how to use it.
    $ waybill jobs list --frob
    waybill: Unknown option '--frob'.
      waybill jobs list --help tells how to use it.
    $ waybill jobs list --state dead
    waybill: --state does not know 'dead'.
      It takes scheduled, available, pending, active, completed, retryable, cancelled, discarded; several with commas.
    $ waybill jobs list --limit 0
    waybill: --limit must be from 1 to 1000, not 0.
      waybill jobs list --help tells how to use it.
    $ waybill jobs list --limit
    waybill: Option '--limit <value>' argument missing.
      waybill jobs list --help tells how to use it.
    $ waybill enqueue
    waybill: 'waybill enqueue' needs TYPE.
      waybill enqueue --help tells how to use it.
    $ waybill enqueue a.b {oops
    waybill: Argument 1 is no JSON: {oops
      Quote it for the shell, and texts for JSON: '"text"', '{"a":1}'.
    $ waybill enqueue a.b --meta []
    waybill: --meta must be a JSON object, not []
      Quote it for the shell, and texts for JSON: '"text"', '{"a":1}'.
    $ waybill enqueue a.b --delay soon
    waybill: --delay must be a duration, not 'soon'.
      Write it like 30s, 5m, 2h, 1d or PT5M.
    $ waybill enqueue a.b --priority high
    waybill: --priority must be a whole number, not 'high'.
      waybill enqueue --help tells how to use it.
    $ waybill enqueue a.b --timeout 1s
    waybill: --timeout has a meaning only with --wait.
      waybill enqueue --help tells how to use it.
    $ waybill enqueue A B
    waybill: 'type' must be lower-case words joined by dots, like email.send.
      waybill enqueue --help tells how to use it.
    $ waybill queues pause No Queue
    waybill: 'queue' must be 1 to 128 characters of a-z, 0-9, '.' and '-', beginning with a letter or digit.
      waybill queues pause --help tells how to use it.
    $ waybill tail --event exploded
    waybill: --event does not know 'exploded'.
      It takes enqueued, scheduled, pending, started, completed, failed, retrying, snoozed, requeued, lease_expired, cancelled, discarded, expired, skipped, waiting, signalled, in_review, approved, revision_requested, replayed, maintenance_failed, progress, heartbeat, queue.paused, queue.resumed, queue.limit_changed, queue.keep_changed, cron.registered, cron.enabled, cron.disabled, cron.removed, cron.triggered, cron.skipped, workflow.started, workflow.step_completed, workflow.completed, workflow.failed, workflow.cancelled, workflow.resumed, worker.started, worker.quiet, worker.terminating, worker.resumed, question.asked, question.answered, question.expired, maintenance.failed, health.checked, budget.warned, budget.exceeded, audit.recorded, incident.opened, incident.changed, incident.escalated, incident.closed, webhook.created, webhook.changed, webhook.rotated, webhook.removed, webhook.paused, webhook.resumed, webhook.missed; several with commas.
    $ waybill jobs list --store redis://localhost
    waybill: The address 'redis://localhost' cannot be used: 'redis:' is none of sqlite, postgres, postgresql, dynamodb, http, https, grpc or grpcs.
      Use an address like sqlite:./waybill.db, postgres://user:password@host:5432/database, dynamodb://eu-west-1/jobs, http://localhost:8080 or grpc://localhost:9090.
    $ waybill serve --port eighty
    waybill: The port must be a number from 0 to 65535, not 'eighty'.
      waybill serve --help tells how to use it.
    $ waybill work
    waybill: 'waybill work' needs MODULE, --command, --exec or --preset.
      waybill work --help tells how to use it.
    $ waybill work ./no-such-module.js
    waybill: There is no module ./no-such-module.js.
      Name the file, with its ending.
    "
  `);
});

test.each([
  [['jobs', 'list', '--stat', 'active'], "Unknown option '--stat'. Did you mean '--state'?"],
  [['jobs', 'list', '--limti=5'], "Unknown option '--limti'. Did you mean '--limit'?"],
  [['enqueue', 'a.b', '--prio', '5'], "Unknown option '--prio'. Did you mean '--priority'?"],
  [['jobs', 'list', '--zzzzzz'], "Unknown option '--zzzzzz'.\n"],
])('L5: %j proposes the option that was meant', async (line, told) => {
  const { code, err } = await terminal().run(...line);
  expect([code, err]).toEqual([2, expect.stringContaining(told)]);
});
