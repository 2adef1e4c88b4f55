export const HELP = `waybill: background jobs where the row is the truth and the queue is only a hint

Usage
  waybill serve [options]   run the server
  waybill dev   [options]   run the server with a sample worker, and show what happens
  waybill --version
  waybill --help

Options
  --store URL        where jobs are kept: sqlite:FILE or sqlite::memory:, with ?durability=normal to trade
                     the last moments before a power cut for speed        [WAYBILL_STORE, sqlite:./waybill.db]
  --host ADDRESS     address to listen on                                 [WAYBILL_HOST, 127.0.0.1]
  --port N           port to listen on; 0 takes any free one              [WAYBILL_PORT, 8080]
  --no-auth          listen beyond loopback although nobody has to log in
  --require-lease    refuse to settle a job without its lease token

Exit codes
  0 done   1 failed   2 wrong usage   130 stopped by a second Ctrl-C
`;
