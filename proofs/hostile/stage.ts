/** The processes of the proof: gateway, simulators, lying vendor, honest callers, attackers. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { type Laboratory, openLaboratory } from '../../testbed/laboratory.ts'
import { createTestAccount, type GatewayProcess, SECRET_KEY } from '../../tests/support/gateway.ts'
import { type RunningProcess, startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'
import type { AttackersOrder, FromAttackers, ToAttackers } from './attackers.ts'
import type { Keys } from './attacks/attack.ts'
import type { Tally } from './attacks/play.ts'
import type { HonestCall, HonestOrder } from './honest.ts'
import { LIE_NAMES } from './liar.ts'
import type { Sample } from './watch-process.ts'

const HERE = import.meta.dirname
const ACCOUNTS = 4

export interface Stage {
  readonly laboratory: Laboratory
  readonly gateway: GatewayProcess
  /** Starts the attacks of these names. */
  attack(names: readonly string[]): void
  /** Stops them. Resolves to what came back for each. */
  stopAttack(): Promise<Record<string, Tally>>
  /** Ends the honest load and the lying vendor. Resolves once the last call has its answer. */
  end(): Promise<void>
  calls(): readonly HonestCall[]
  samples(): readonly Sample[]
  close(): Promise<void>
}

export interface StageOptions {
  readonly perSecond: number
  readonly seed: number
  readonly postgres: string
  readonly environment: Readonly<Record<string, string>>
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const { perSecond, seed, postgres, environment } = options
  const laboratory = await openLaboratory({
    accounts: ACCOUNTS,
    keys: ACCOUNTS * 2,
    postgres,
  })
  const liar = await startLiar()
  const keys = await laboratory.withDatabase(async (sql) => {
    await applyLies(sql, liar.url)
    return createAttackers(sql)
  })
  const watchFile = join(laboratory.dataDir, 'samples.jsonl')
  const callsFile = join(laboratory.dataDir, 'calls.jsonl')
  const gateway = await laboratory.startGateway({
    NODE_OPTIONS: `--import=${join(HERE, 'watch-process.ts')}`,
    WATCH_FILE: watchFile,
    ...environment,
  })
  const { port, url } = gateway
  const order: HonestOrder = { url, keys: laboratory.keys, perSecond, seed, file: callsFile }
  const honest = startChild('honest.ts', order)
  const attackersOrder: AttackersOrder = { port, keys }
  const attackers = startChild('attackers.ts', attackersOrder)
  await nextMessage(attackers)
  // If they were on other machines, they would cost the gateway only the work for their requests.
  for (const { pid } of [attackers, liar]) setPriority(pid ?? 0, constants.priority.PRIORITY_LOW)
  const tell = (message: ToAttackers) => attackers.send(message)
  return {
    laboratory,
    gateway,
    attack: (names) => void tell({ play: names }),
    async stopAttack() {
      const answered = nextMessage(attackers)
      tell({ stop: true })
      const message = await answered
      return 'tallies' in message ? message.tallies : {}
    },
    async end() {
      honest.kill('SIGTERM')
      await ended(honest)
      // Its answers would otherwise be read for minutes, since they may cost something.
      await liar.stop(1_000)
    },
    calls: () => readLines<HonestCall>(callsFile),
    samples: () => readLines<Sample>(watchFile),
    async close() {
      attackers.kill('SIGKILL')
      honest.kill('SIGKILL')
      await Promise.all([ended(attackers), ended(honest)])
      await gateway.stop()
      await liar.stop(1_000)
      await laboratory.close()
    },
  }
}

/** A process that ends with this one. */
function startChild(script: string, order: object): ChildProcess {
  const child = fork(join(HERE, script), [JSON.stringify(order)])
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function nextMessage(child: ChildProcess): Promise<FromAttackers> {
  const [message] = await once(child, 'message')
  return message as FromAttackers
}

function readLines<T>(file: string): readonly T[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  // The last line may be in the making.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as T)
}

async function startLiar(): Promise<RunningProcess & { readonly url: string }> {
  const liar = await startProcess([process.execPath, join(HERE, 'liar.ts'), '--serve'])
  const url = await until('the lying vendor', () => /http:\S+/.exec(liar.log())?.[0])
  return { ...liar, url }
}

/** One channel and one free model for each lie. */
async function applyLies(sql: Sql, url: string): Promise<void> {
  const channels = LIE_NAMES.map((name) => ({
    id: `liar-${name}`,
    upstream: 'openai-compatible',
    settings: { base_url: `${url}/${name}/v1`, api_key: 'x' },
  }))
  const models = LIE_NAMES.map((name) => ({
    id: `liar-${name}`,
    type: 'chat',
    free: true,
    prices: [],
    routes: [{ channel: `liar-${name}`, upstream_model: 'liar' }],
  }))
  const file = parseCatalogFile('liar.json', JSON.stringify({ channels, models }), {})
  const upstreams = Object.fromEntries(UPSTREAMS)
  const secrets = createSecretBox([SECRET_KEY])
  await applyCatalog({ sql, files: [file], upstreams, secrets, environment: {} })
}

async function createAttackers(sql: Sql): Promise<Keys> {
  const create = async (balance: string, limits = {}) => {
    const { id: accountId } = await createTestAccount(sql, balance)
    return (await createKey(sql, { accountId, limits })).key
  }
  return {
    poor: await create('0'),
    writer: await create('0'),
    small: await create('1'),
    hoarder: await create('1'),
    reader: await create('1'),
    deceived: await create('1'),
    limited: await create('1', { requests_per_minute: 60 }),
  }
}
