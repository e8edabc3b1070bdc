/** Injects faults; each resolves when it is over. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../testbed/random.ts'
import { fillDisk, type Gateway, type Stage } from './stage.ts'

export interface Fault {
  readonly name: string
  readonly milliseconds: readonly [least: number, most: number]
  readonly run: (stage: Stage, gateway: Gateway, milliseconds: number) => Promise<void>
}

async function during(milliseconds: number, begin: () => () => void): Promise<void> {
  const end = begin()
  await sleep(milliseconds)
  end()
}

export const FREEZE: Fault = {
  name: 'database frozen',
  milliseconds: [5_000, 90_000],
  run: (stage, _gateway, milliseconds) =>
    during(milliseconds, () => {
      stage.signalDatabase('SIGSTOP')
      return () => stage.signalDatabase('SIGCONT')
    }),
}

export const DROP: Fault = {
  name: 'answers of commits lost',
  milliseconds: [2_000, 10_000],
  run: (_stage, { proxy }, milliseconds) => during(milliseconds, proxy.dropAnswers),
}

export const HOLD_BACK: Fault = {
  name: 'statements held back',
  milliseconds: [3_000, 25_000],
  run: (_stage, { proxy }, milliseconds) => during(milliseconds, proxy.holdBack),
}

export const LOCK: Fault = {
  name: 'a balance locked',
  milliseconds: [2_000, 20_000],
  async run({ sql, accountIds }, _gateway, milliseconds) {
    const [locked = ''] = accountIds
    await sql
      .begin(async (transaction) => {
        await transaction`select 1 from balance where account_id = ${locked} for update`
        await sleep(milliseconds)
      })
      // The database may be frozen or stopped at the same time.
      .catch(() => undefined)
  },
}

const PAUSE: Fault = {
  name: 'gateway paused',
  milliseconds: [20_000, 70_000],
  run: (_stage, { process }, milliseconds) =>
    during(milliseconds, () => {
      process.signal('SIGSTOP')
      return () => process.signal('SIGCONT')
    }),
}

export const FAULTS: readonly [Fault, ...Fault[]] = [
  FREEZE,
  DROP,
  HOLD_BACK,
  LOCK,
  PAUSE,
  {
    name: 'database stopped',
    milliseconds: [5_000, 90_000],
    run: (stage, _gateway, milliseconds) => stage.restartDatabase(milliseconds),
  },
  {
    name: 'one gateway cut off',
    milliseconds: [5_000, 60_000],
    run: (_stage, { proxy }, milliseconds) => during(milliseconds, proxy.cut),
  },
  {
    name: 'gateway killed',
    milliseconds: [0, 0],
    run: (stage, gateway) => stage.kill(gateway),
  },
  {
    name: 'disk full',
    milliseconds: [3_000, 15_000],
    async run(stage, _gateway, milliseconds) {
      if (stage.hasSmallDisk) await during(milliseconds, () => fillDisk(stage))
    },
  },
]

/** Runs one fault after the other until `untilMs`, each once before any is repeated. */
export async function runFaults(
  stage: Stage,
  random: Random,
  options: {
    readonly untilMs: number
    readonly list: readonly [Fault, ...Fault[]]
    /** Longer faults are cut to this. */
    readonly longestMs: number
    readonly log: (text: string) => void
  },
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  let rest: Fault[] = []
  while (performance.now() < options.untilMs) {
    if (rest.length === 0) rest = shuffle(options.list, random)
    const fault = rest.pop() ?? options.list[0]
    const gateway = stage.gateways[random.integer(0, stage.gateways.length - 1)]
    if (!gateway) throw new Error('no gateway')
    const milliseconds = Math.min(random.integer(...fault.milliseconds), options.longestMs)
    options.log(`${fault.name}, ${Math.round(milliseconds / 100) / 10} s`)
    await fault.run(stage, gateway, milliseconds)
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
    await sleep(random.integer(500, Math.min(8_000, options.longestMs)))
  }
  return counts
}

function shuffle(list: readonly Fault[], random: Random): Fault[] {
  return list
    .map((fault) => ({ fault, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ fault }) => fault)
}
