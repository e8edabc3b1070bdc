/**
 * Compares gateways under the same rules: all processes of one, its database included, on the same
 * cores; fsync on; an open load of 1 KB and 300 KB, whole and streamed; a race for a budget of
 * 1 USD; a kill with -9 under load. `npm run bench -- gateways [--manifest FILE …] [--rounds 3]
 * [--seconds 3] [--only NAME]`. A manifest adds a gateway that is installed: docs/benchmarks.md.
 */
import { readOptions } from '../../testbed/options.ts'
import { median, readConditions, report, round, table } from '../../testbed/results.ts'
import { startUpstream } from '../peers/start-peers.ts'
import {
  type Contestant,
  DEFAULT_CORES,
  pinOurselves,
  startBare,
  startLeast,
  startOurs,
  startPortkeyHere,
} from './contestant.ts'
import { bestWithin, climb, costOf, LIMITS_MS, type Rung, SHAPES } from './frontier.ts'
import { startByManifest } from './manifest.ts'
import { killUnderLoad, raceForBudget } from './money.ts'

const values = readOptions(import.meta.filename, {
  manifest: { type: 'string', multiple: true, default: [] },
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '3' },
  only: { type: 'string', default: '' },
  cores: { type: 'string', default: DEFAULT_CORES.gateway },
  'other-cores': { type: 'string', default: DEFAULT_CORES.other },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const cores = { gateway: values.cores, other: values['other-cores'] }
const WARM_UP_SECONDS = 5
const NONE = '–'

const command = `npm run bench -- gateways --rounds ${rounds} --seconds ${seconds}`
const conditions = readConditions(command)
pinOurselves(cores)
const upstream = await startUpstream()
const rungs = new Map<string, (readonly Rung[])[]>()
const contestants: Contestant[] = []
const idleMb = new Map<string, number>()
try {
  await startAll()
  for (const one of contestants) idleMb.set(one.name, one.memoryMb())
  for (const shape of SHAPES) await climbInTurns(shape)
  finish(await measureMoney())
} finally {
  await Promise.all(contestants.map((one) => one.stop()))
  await upstream.stop(2_000)
}

async function startAll(): Promise<void> {
  const { url } = upstream
  const all = [
    () => startOurs(url, cores),
    () => startLeast(url, cores),
    () => startBare(url, cores),
    () => startPortkeyHere(url, cores),
    ...values.manifest.map((file) => () => startByManifest(file, url, cores)),
  ]
  for (const start of all) {
    const one = await start()
    if (one === undefined) continue
    if (one.name.includes(values.only)) contestants.push(one)
    else await one.stop()
  }
}

async function climbInTurns(shape: (typeof SHAPES)[number]): Promise<void> {
  const able = contestants.filter(({ wholeOnly }) => !(wholeOnly && shape.stream))
  for (const one of able) await climb(one, shape, WARM_UP_SECONDS / 5)
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const one of able) {
      const climbed = await climb(one, shape, seconds)
      const key = keyOf(one, shape.name)
      rungs.set(key, [...(rungs.get(key) ?? []), climbed])
      const last = climbed.at(-1)
      console.log(
        `${shape.name}  ${one.name}: ${last?.perSecond}/s, p99 ${round(last?.p99 ?? 0)} ms`,
      )
    }
  }
}

function keyOf({ name }: Contestant, shape: string): string {
  return `${shape} of ${name}`
}

async function measureMoney(): Promise<(readonly (string | number)[])[]> {
  const rows = []
  for (const one of contestants) {
    const busyMb = one.memoryMb()
    const race = await raceForBudget(one)
    const killed = one.ledger && (await killUnderLoad(one, one.ledger, countBilled))
    rows.push([
      one.name,
      Math.round(idleMb.get(one.name) ?? 0),
      Math.round(busyMb),
      race?.served ?? NONE,
      race?.overspentCents ?? NONE,
      killed?.billed ?? NONE,
      killed?.delivered ?? NONE,
      killed?.charged ?? NONE,
      killed === undefined ? NONE : Math.max(0, killed.billed - killed.charged),
      killed === undefined ? NONE : Math.max(0, killed.charged - killed.billed),
    ])
  }
  return rows
}

async function countBilled(): Promise<number> {
  const answer = await fetch(`${upstream.url}/count`)
  return Number(await answer.text())
}

function finish(money: readonly (readonly (string | number)[])[]): void {
  const lines = SHAPES.flatMap(({ name }) => {
    const title = [name, ...LIMITS_MS.map((limit) => `p99 ≤ ${limit} ms`), 'p50 ms', 'µs of CPU']
    const rows = contestants.flatMap((one) => {
      const climbed = rungs.get(keyOf(one, name))
      if (climbed === undefined) return []
      const best = LIMITS_MS.map((limit) => bestWithin(climbed, limit))
      const p50 = round(median(climbed.flatMap((each) => each.slice(0, 1).map((rung) => rung.p50))))
      return [[one.name, ...best, p50, Math.round(costOf(climbed))]]
    })
    return [...table([title, ...rows]), '']
  })
  const title = ['money and memory', 'idle MB', 'busy MB', 'served of 20', 'overspent cents']
  const after = ['billed', 'delivered', 'charged', 'lost', 'charged too much']
  report('gateways', conditions, { rounds, seconds, rungs: [...rungs], money }, [
    ...lines,
    ...table([[...title, ...after], ...money]),
    '',
    `Calls a second, by an open load in rungs of ${seconds} s, medians of ${rounds} in turns;`,
    `a gateway with its database on core ${cores.gateway}, load and upstream on ${cores.other}.`,
    '`p50` is of the lowest rate, `µs of CPU` of the highest within 100 ms, database included.',
    'Money: 100 calls at once on a budget of 1 USD that pays 20; then kill -9 of all processes',
    'under 32 connections: calls that the upstream bills, that reached their caller, that are',
    'charged once all is up again. Portkey and the bare server have no keys and no ledger.',
  ])
}
