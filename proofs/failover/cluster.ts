/**
 * Three PostgreSQL under Patroni, one etcd and HAProxy, as Debian packages them, with the settings
 * of deploy/failover: each node on an address of its own on loopback, its data on a small disk.
 */
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountSmallDisk } from '../../tests/support/database/small-disk.ts'
import { type RunningProcess, startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'

const SAMPLES = join(import.meta.dirname, '..', '..', 'deploy', 'failover')
const PROGRAMS = [
  '/usr/bin/patroni',
  '/usr/bin/etcd',
  '/usr/sbin/haproxy',
  '/usr/lib/python3/dist-packages/etcd',
] as const
const DISK_MEGABYTES = 1_024
const READY_MS = 120_000
/** The log of the nodes, if the proof ends early. */
export const LOGS = join(tmpdir(), 'prove-failover-nodes.log')
const ETCD = '127.0.0.1'
const PASSWORD = 'proof'

export interface ClusterNode {
  readonly name: string
  readonly address: string
  readonly folder: string
  process: RunningProcess | undefined
  /** The relay through which this node reaches etcd. */
  readonly relay: Relay
}

export interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  /** Absent while the server does not run. */
  readonly timeline?: number
}

export interface Cluster {
  /** The DATABASE_URL behind HAProxy. */
  readonly url: string
  /** The address of one node, whatever its role. */
  urlOf(node: ClusterNode): string
  readonly nodes: readonly ClusterNode[]
  start(node: ClusterNode): Promise<void>
  /** Sends a signal to Patroni and to all of PostgreSQL on a node. */
  signal(node: ClusterNode, signal: NodeJS.Signals): void
  leader(): Promise<ClusterNode | undefined>
  /** Returns the members as some node that answers sees them. */
  members(): Promise<readonly Member[]>
  /** Asks Patroni's REST API of a node. */
  ask(node: ClusterNode, method: string, path: string, body?: object): Promise<Response>
  /** Resolves once there are a leader, a synchronous standby and a third node that follows. */
  untilWhole(): Promise<void>
  /** Writes what Patroni and PostgreSQL of each node have logged into a file. */
  writeLogs(): void
  stop(): Promise<void>
}

/** Returns why there can be no cluster on this machine, or undefined. */
export function whyNoCluster(): string | undefined {
  const missing = PROGRAMS.find((program) => !existsSync(program))
  if (missing)
    return `${missing} is missing: install Debian's patroni, etcd-server, haproxy, python3-etcd`
  return process.getuid?.() === 0 ? undefined : 'only root can run the nodes as their own user'
}

/** Starts all of it. `port` is HAProxy's on 127.0.0.1. */
export async function startCluster(port: number): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cluster-'))
  const undo: (() => void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const etcd = await startEtcd(folder)
  const nodes = await openNodes((work) => undo.push(work))
  const haproxy = await startHaproxy(folder, port, nodes)
  const killAll = () => {
    for (const node of nodes) for (const pid of processesOf(node)) process.kill(pid, 'SIGKILL')
  }
  process.once('exit', killAll)
  const asked = watch(nodes)

  async function start(node: ClusterNode): Promise<void> {
    node.process = await startPatroni(node)
  }

  await start(nodes[0] as ClusterNode)
  await until('the first leader', () => asked.leader(), READY_MS)
  for (const node of nodes.slice(1)) await start(node)
  const writeLogs = () => {
    const texts = nodes.map(({ name, process: own }) => `== ${name}\n${own?.log()}`)
    writeFileSync(LOGS, texts.join('\n\n'))
  }
  await asked.untilWhole().catch((error: unknown) => {
    writeLogs()
    throw new Error(`no cluster: see ${LOGS}`, { cause: error })
  })
  return {
    ...asked,
    writeLogs,
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    urlOf: ({ address }) => `postgres://postgres:${PASSWORD}@${address}:5432/postgres`,
    nodes,
    start,
    signal(node, signal) {
      for (const pid of processesOf(node)) process.kill(pid, signal)
    },
    async stop() {
      await haproxy.stop(2_000)
      process.off('exit', killAll)
      killAll()
      for (const { relay } of nodes) relay.close()
      await etcd.stop(2_000)
      for (const work of undo.reverse()) work()
    },
  }
}

async function openNodes(after: (work: () => void) => void): Promise<readonly ClusterNode[]> {
  const { uid, gid } = postgresUser()
  const nodes: ClusterNode[] = []
  for (const number of [1, 2, 3]) {
    const address = `127.0.9.${number}`
    const end = (work?: unknown) => {
      if (typeof work === 'function') after(() => work())
    }
    const own = mountSmallDisk({ after: end }, DISK_MEGABYTES)
    chownSync(own, uid, gid)
    const relay = await openRelay(address)
    nodes.push({ name: `node${number}`, address, folder: own, process: undefined, relay })
  }
  return nodes
}

/** Asks the nodes' REST API. */
function watch(
  nodes: readonly ClusterNode[],
): Pick<Cluster, 'ask' | 'leader' | 'members' | 'untilWhole'> {
  async function view(node: ClusterNode): Promise<readonly Member[]> {
    const answer: unknown = await fetch(`http://${node.address}:8008/cluster`, {
      signal: AbortSignal.timeout(2_000),
    })
      .then((found) => (found.ok ? found.json() : undefined))
      .catch(() => undefined)
    return (answer as { members?: readonly Member[] } | undefined)?.members ?? []
  }

  /**
   * A node that was frozen or is cut off answers with what it last heard, so the majority decides.
   */
  async function members(): Promise<readonly Member[]> {
    const views = await Promise.all(nodes.filter(({ relay }) => !relay.isCut()).map(view))
    const rolesOf = (all: readonly Member[]) =>
      all.map(({ name, role }) => `${name} ${role}`).join()
    const known = views.filter((one) => one.length > 0)
    const groups = [...Map.groupBy(known, rolesOf).values()]
    return groups.find((group) => group.length * 2 > known.length)?.[0] ?? []
  }

  async function leader(): Promise<ClusterNode | undefined> {
    const isLeader = ({ role, state }: Member) => role === 'leader' && state === 'running'
    const found = (await members()).find(isLeader)
    return nodes.find(({ name }) => name === found?.name)
  }

  async function isWhole(): Promise<boolean> {
    const all = (await members()).filter(({ state }) => /^(running|streaming)$/.test(state))
    const has = (role: string) => all.some((one) => one.role === role)
    // A former leader that has not been rewound yet runs too, on a timeline that has ended.
    const timelines = new Set(all.map(({ timeline }) => timeline))
    const isOneCluster = all.length === nodes.length && timelines.size === 1
    return isOneCluster && has('leader') && has('sync_standby')
  }

  return {
    members,
    leader,
    async untilWhole() {
      await until('a whole cluster', isWhole, READY_MS)
    },
    async ask(node, method, path, body) {
      return await fetch(`http://${node.address}:8008${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      })
    },
  }
}

function postgresUser(): { readonly uid: number; readonly gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('postgres:'))
  const [, , uid = '', gid = ''] = line?.split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

function asPostgres(command: readonly string[]): [string, ...string[]] {
  const { uid, gid } = postgresUser()
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...command]
}

async function startEtcd(folder: string): Promise<RunningProcess> {
  const client = `http://${ETCD}:2379`
  const etcd = await startProcess([
    '/usr/bin/etcd',
    '--data-dir',
    join(folder, 'etcd'),
    '--listen-client-urls',
    client,
    '--advertise-client-urls',
    client,
    '--listen-peer-urls',
    `http://${ETCD}:2380`,
    '--enable-v2',
    '--log-level',
    'error',
  ])
  const isUp = () =>
    fetch(`${client}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('etcd', isUp, READY_MS).catch((error: unknown) => {
    throw new Error(etcd.log(), { cause: error })
  })
  return etcd
}

async function startPatroni(node: ClusterNode): Promise<RunningProcess> {
  const file = join(node.folder, 'patroni.yaml')
  const text = readFileSync(join(SAMPLES, 'patroni.yaml'), 'utf8')
    .replaceAll('NODE', node.name)
    .replaceAll('ADDRESS', node.address)
    // A proxy, so that the node does not find etcd's own address and leave the relay.
    .replace('ETCD_HOSTS', `${node.address}:2379\n  use_proxies: true`)
    .replaceAll('DATA_DIR', join(node.folder, 'data'))
    .replaceAll('NETWORK', '127.0.0.0/8')
    // Three servers on one machine.
    .replace(
      /^ {2}bin_dir:.*$/m,
      (line) => `${line}\n  parameters: { unix_socket_directories: ${node.folder} }`,
    )
    .replaceAll(/(?:SUPERUSER|REPLICATION|REWIND)_PASSWORD/g, PASSWORD)
  writeFileSync(file, text)
  const { PATH } = process.env
  const home = { PATH, HOME: node.folder, PGPASSFILE: join(node.folder, 'pgpass'), LANG: 'C.UTF-8' }
  return await startProcess(asPostgres(['/usr/bin/patroni', file]), {
    env: home,
    cwd: node.folder,
  })
}

async function startHaproxy(folder: string, port: number, nodes: readonly ClusterNode[]) {
  const file = join(folder, 'haproxy.cfg')
  let text = readFileSync(join(SAMPLES, 'haproxy.cfg'), 'utf8')
  text = text.replace('LISTEN', `127.0.0.1:${port}`)
  for (const [index, { address }] of nodes.entries()) {
    text = text.replace(`ADDRESS${index + 1}`, address)
  }
  writeFileSync(file, text)
  return await startProcess(['/usr/sbin/haproxy', '-db', '-f', file])
}

/** Returns Patroni, the postmaster and its children. */
function processesOf(node: ClusterNode): readonly number[] {
  const { process: patroni } = node
  const own = patroni && !patroni.hasExited() ? [patroni.pid] : []
  const pidFile = join(node.folder, 'data', 'postmaster.pid')
  if (!existsSync(pidFile)) return own
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  if (!existsSync(`/proc/${postmaster}`)) return own
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], {
    encoding: 'utf8',
  })
  return [...own, postmaster, ...children.trim().split(/\s+/).filter(Boolean).map(Number)]
}

interface Relay {
  /** Cuts all connections and takes no new ones; the returned function ends this. */
  cut(): () => void
  isCut(): boolean
  close(): void
}

/** Passes connections of one address to etcd. */
async function openRelay(address: string): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server: Server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const upstream = dial(2379, ETCD)
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(2379, address, resolve))
  return {
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
      return () => {
        isCut = false
      }
    },
    isCut: () => isCut,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
