import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { containmentLevel } from './containment-level.ts';
import { MARK_VARIABLE, markPath } from './proc-files.ts';

/**
 * Reads lines such as '+ group:4711' and '- group:4711' into the list `held`. Its input ends when the worker is gone,
 * however that died. Then it kills the groups at once, and after them every process that still carries a mark.
 * It has no mark itself, and a session of its own, so neither it nor the worker's group is ever a target.
 *
 * '= 4711 30 MARK' gives a held group 30 seconds, in the place of those that it had. A worker that stands still writes no more
 * such lines, and then the group is killed although the pipe is open. A timer ends by SIGVTALRM, which it alone expects.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM USR1 USR2 ALRM TSTP TTIN TTOU
kill_marked() {
  for round in 1 2 3 4 5 6 7 8 9 10; do
    files=$(grep -lz "$@" /proc/[0-9]*/environ)
    [ "$files" ] || return
    for file in $files; do file=\${file%/environ}; kill -9 "\${file#/proc/}"; done
  done
}
disarm() {
  eval "timer=\\\${timer_$1-}; timer_$1="
  [ "$timer" ] || return
  kill -VTALRM "$timer"
  wait "$timer"
}
arm() {
  disarm "$1"
  (
    trap 'kill -9 "$pause"; exit' VTALRM
    sleep "$2" &
    pause=$!
    wait "$pause"
    kill -9 "-$1"
    kill_marked -e "^${MARK_VARIABLE}=$3\\(/\\|$\\)"
  ) &
  eval "timer_$1=$!"
}
held=
while read -r change what more; do
  case $change in
    =) arm "$what" $more; continue ;;
    -) case $what in group:*) disarm "\${what#group:}" ;; esac ;;
  esac
  rest=
  for each in $held; do [ "$each" = "$what" ] || rest="$rest $each"; done
  case $change in +) held="$rest $what" ;; *) held=$rest ;; esac
done
set --
for each in $held; do
  case $each in
    group:*) kill -9 "-\${each#group:}"; disarm "\${each#group:}" ;;
    mark:*) set -- "$@" -e "^${MARK_VARIABLE}=\${each#mark:}\\(/\\|$\\)" ;;
  esac
done
[ $# -eq 0 ] || kill_marked "$@"
`;

const RESTART_MS = 1000;

/**
 * One small shell beside the worker that ends all contained processes when the worker itself is killed. It is a process
 * of its own and not a wrapper of each program, because dash drops variables such as 'a.b' from the environment of what
 * it starts, and because a program that waits for all its children would wait for a watchdog among them.
 */
export class Watchdog {
  readonly #held = new Set<string>();
  #shell: ChildProcess | null = null;

  /** Its pid, for tests and diagnosis. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** Called before a process starts, so that there is no moment in which the watchdog does not know of it. */
  holdMark(mark: string): void {
    this.#hold(`mark:${markPath(mark)}`);
  }

  holdGroup(group: number): void {
    this.#hold(`group:${group}`);
  }

  /** Kills a held group and all that has the mark unless this is called again within so many milliseconds, or it is released. */
  keepFor(group: number, mark: string, ms: number): void {
    if (this.#held.has(`group:${group}`)) this.#write(`= ${group} ${Math.ceil(ms / 1_000)} ${markPath(mark)}\n`);
  }

  release(mark: string, group: number | null): void {
    for (const what of [`mark:${markPath(mark)}`, `group:${group}`]) {
      if (this.#held.delete(what)) this.#write(`- ${what}\n`);
    }
  }

  #hold(what: string): void {
    this.#held.add(what);
    if (this.#shell === null) this.#start();
    else this.#write(`+ ${what}\n`);
  }

  #start(): void {
    if (this.#shell !== null || !containmentLevel().watchdog) return;
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'waybill-watchdog'], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#shell = shell;
    const lost = () => {
      if (this.#shell !== shell) return;
      this.#shell = null;
      // A task of the same user may have killed it. The runs go on, and get another watchdog a moment later.
      setTimeout(() => this.#held.size > 0 && this.#start(), RESTART_MS).unref();
    };
    shell.on('exit', lost);
    shell.on('error', lost);
    shell.stdin.on('error', () => {});
    shell.unref();
    (shell.stdin as Socket).unref();
    for (const what of this.#held) this.#write(`+ ${what}\n`);
  }

  #write(line: string): void {
    this.#shell?.stdin?.write(line);
  }
}

export const watchdog = new Watchdog();
