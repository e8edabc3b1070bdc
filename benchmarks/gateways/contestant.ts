/** A gateway of the comparison, and those that the repository starts by itself. */
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { waitForHolds } from '../../testbed/holds.ts'
import { killTree, pinTree, readCpuSeconds, readMemoryMb } from '../../testbed/proc.ts'
import { applyObject, type GatewayProcess } from '../../tests/support/gateway.ts'
import {
  OTHER_CORE,
  type Peer,
  startBareNode,
  startPortkey,
  startPrototype,
  startTributary,
} from '../peers/start-peers.ts'

/** Lists for taskset: the cores of a gateway with its database, and those of everything else. */
export interface Cores {
  readonly gateway: string
  readonly other: string
}

export interface Contestant extends Pick<Peer, 'name' | 'url' | 'headers' | 'wholeOnly'> {
  /** Processor time of all its processes so far, in seconds. */
  cpuSeconds(): number
  memoryMb(): number
  /** A caller whose budget pays BUDGET_CALLS calls of `model`; absent without budgets. */
  readonly budget?: { readonly headers: Readonly<Record<string, string>>; readonly model: string }
  /** Absent without records of charges that survive a kill. */
  readonly ledger?: Ledger
  stop(): Promise<void>
}

export interface Ledger {
  /** Ends all its processes by SIGKILL, starts them again, and resolves once it serves. */
  killAndRestart(): Promise<void>
  /** Resolves to the number of calls charged so far, once nothing is under way. */
  countCharged(): Promise<number>
}

/** A budget of 1 USD pays so many calls at 5 cents. */
export const BUDGET_CALLS = 20
const DEAR_MODEL = 'dear-chat'

/** Returns the cost of a gateway whose database is a process of its own. */
function readCosts({ pid, databasePid }: Pick<Peer, 'pid' | 'databasePid'>) {
  const both = (read: (one: number, without?: number) => number) =>
    read(pid, databasePid) + (databasePid === undefined ? 0 : read(databasePid))
  return { cpuSeconds: () => both(readCpuSeconds), memoryMb: () => both(readMemoryMb) }
}

function pinAll({ pid, databasePid }: Pick<Peer, 'pid' | 'databasePid'>, cores: string): void {
  pinTree(pid, cores)
  if (databasePid !== undefined) pinTree(databasePid, cores)
}

function fromPeer(peer: Peer, cores: Cores): Contestant {
  pinAll(peer, cores.gateway)
  const { name, url, headers, stop } = peer
  const whole = peer.wholeOnly === undefined ? {} : { wholeOnly: peer.wholeOnly }
  return { name, url, headers, stop, ...whole, ...readCosts(peer) }
}

export async function startBare(upstream: string, cores: Cores): Promise<Contestant> {
  return fromPeer(await startBareNode(upstream), cores)
}

export async function startPortkeyHere(
  upstream: string,
  cores: Cores,
): Promise<Contestant | undefined> {
  const peer = await startPortkey(upstream)
  return peer && fromPeer(peer, cores)
}

export async function startLeast(upstream: string, cores: Cores): Promise<Contestant> {
  const peer = await startPrototype(upstream)
  return {
    ...fromPeer(peer, cores),
    ledger: {
      // It only counts afterwards, because it cannot start a second time and repairs nothing.
      async killAndRestart() {
        killTree(peer.pid)
        if (peer.databasePid !== undefined) killTree(peer.databasePid)
      },
      countCharged: () =>
        peer.place.withDatabase(async (sql) => {
          const [row] = await sql<{ count: number }[]>`select count(*)::int as count from record`
          return row?.count ?? 0
        }),
    },
  }
}

/** Starts Tributary with everything on, and a key with a budget of 1 USD. */
export async function startOurs(upstream: string, cores: Cores): Promise<Contestant> {
  const peer = await startTributary(upstream)
  const { place } = peer
  const key = await place.withDatabase(async (sql) => {
    await applyObject(sql, 'dear', dearCatalog())
    const [accountId = ''] = place.accountIds
    return await createKey(sql, { accountId, spendLimitNanos: 1_000_000_000n })
  })
  let revived: GatewayProcess | undefined
  let now: Pick<Peer, 'pid' | 'databasePid'> = peer
  const costs = () => readCosts(now)
  pinAll(peer, cores.gateway)
  return {
    name: peer.name,
    url: peer.url,
    headers: peer.headers,
    budget: { headers: { authorization: `Bearer ${key.key}` }, model: DEAR_MODEL },
    cpuSeconds: () => costs().cpuSeconds(),
    memoryMb: () => costs().memoryMb(),
    ledger: {
      async killAndRestart() {
        killTree(peer.pid)
        if (peer.databasePid !== undefined) killTree(peer.databasePid)
        revived = await place.startGateway()
        now = { pid: revived.pid }
      },
      countCharged: () =>
        place.withDatabase(async (sql) => {
          await waitForHolds(sql)
          const [row] = await sql<{ count: number }[]>`
            select count(*)::int as count from call where charged > 0`
          return row?.count ?? 0
        }),
    },
    async stop() {
      await revived?.stop()
      await peer.stop()
    },
  }
}

/** A model whose answer of 100 tokens costs 5 cents. */
function dearCatalog(): object {
  const model = {
    id: DEAR_MODEL,
    type: 'chat',
    prices: [
      { unit: 'input_token', per: 1_000_000, amount: '0' },
      { unit: 'output_token', per: 100, amount: '0.05' },
    ],
    routes: [{ channel: 'test-openai', upstream_model: 'sim-chat' }],
  }
  return { channels: [], models: [model] }
}

/** Keeps everything except the gateways off their cores. */
export function pinOurselves(cores: Cores): void {
  pinTree(process.pid, cores.other)
}

export const DEFAULT_CORES: Cores = { gateway: '0', other: String(OTHER_CORE) }
