/**
 * Tests wait for states and events: a fixed time is too short on a busy machine and too long on any
 * other. Timers stand only in the helpers for that, and where slowness itself is the subject.
 */
import { lineOf, type SourceFile } from './read-tree.ts'

/** Files with timers of their own, each with its reason. */
const TIMERS: Readonly<Record<string, string>> = {
  'tests/support/until.ts': 'waits for a state',
  'tests/support/servers/drip.ts': 'is a peer that writes slowly',
  'tests/support/processes.ts': 'kills a process that does not end',
  'tests/support/raw.ts': 'reports a request that gets no answer',
  'tests/http/connections/slow-readers.test.ts': 'is a reader that is slow, but not too slow',
  'tests/http/drain.test.ts': 'is a server whose thread is busy while a caller connects',
  'tests/database/slow-server.test.ts': 'is a server that is slow to admit connections',
  'tests/database/lost-connections.test.ts': 'has statements that run when their server dies',
  'tests/ledger/locks-and-deadlines.test.ts': 'has a lock that its holder keeps until a deadline',
  'tests/database/migrations/migrate.test.ts': 'has a migration that runs when its process dies',
}

const TIMER =
  /(?<![.\w])set(?:Timeout|Interval)\s*\(|\b(?:scheduler\.wait|waitForTimeout|Atomics\.wait)\b/g
const MODULE = /^(?:node:)?timers(?:\/promises)?$/
const SLEEP = /\bpg_sleep\b/

/** Timers in tests outside of `TIMERS`, and entries there without a timer. */
export function checkWaits(sources: readonly SourceFile[]): readonly string[] {
  const found = sources
    .filter(({ path }) => path.startsWith('tests/') && !path.startsWith('tests/tidy/'))
    .flatMap((source) => findTimers(source).map((line) => ({ path: source.path, line })))
  const unused = Object.keys(TIMERS).filter((name) => !found.some(({ path }) => path === name))
  return [
    ...found
      .filter(({ path }) => !(path in TIMERS))
      .map(({ path, line }) => `${path}:${line} has a timer: use until() or drip()`),
    ...unused.map((path) => `${path} has no timer: remove it from TIMERS`),
  ]
}

function findTimers({ text, masked }: SourceFile): readonly number[] {
  return [
    ...[...masked.code.matchAll(TIMER)].map(({ index }) => lineOf(text, index)),
    ...masked.strings
      .filter((literal) => MODULE.test(literal.text) || SLEEP.test(literal.text))
      .map(({ start }) => lineOf(text, start)),
  ]
}
