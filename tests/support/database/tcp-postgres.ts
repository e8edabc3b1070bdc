/** PostgreSQL servers that listen on loopback, as a managed or replicated one is reached. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../server/base/database/connection/client.ts'
import {
  chooseUser,
  commandAs,
  findBinaries,
} from '../../../server/base/database/embedded/binaries.ts'
import { findFreePort } from '../free-port.ts'
import { until } from '../until.ts'
import { signalServer } from './own-postgres.ts'

const USER = 'operator'

export interface TcpPostgres {
  readonly port: number
  readonly cluster: string
  readonly log: () => string
  /** The address over the loopback port; `parameters` are those of the URL. */
  url(host?: string, parameters?: string): string
  /** SIGKILL to the server and all its backends. */
  kill(): void
  stop(): Promise<void>
}

/** Creates an empty cluster; `rules` are lines of pg_hba.conf. */
export function createCluster(cluster: string, rules: readonly string[]): void {
  const { initdb } = findBinaries()
  mkdirSync(cluster, { mode: 0o700 })
  const user = chooseUser(cluster)
  if (user) chownSync(cluster, user.uid, user.gid)
  const { command, prefix, as } = commandAs(user, initdb, [cluster])
  const options = ['-D', cluster, '-U', USER, '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C']
  execFileSync(command, [...prefix, ...options], { ...as, cwd: '/', stdio: 'ignore' })
  writeFileSync(join(cluster, 'pg_hba.conf'), `${rules.join('\n')}\n`)
}

/** Copies the cluster of a stopped server for a replica that streams from `port`. */
export function createReplica(primary: string, cluster: string, port: number): void {
  cpSync(primary, cluster, { recursive: true, preserveTimestamps: true })
  const user = chooseUser(primary)
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, cluster])
  writeFileSync(join(cluster, 'standby.signal'), '')
  const source = `host=127.0.0.1 port=${port} user=${USER} application_name=replica`
  appendFileSync(join(cluster, 'postgresql.conf'), `primary_conninfo = '${source}'\n`)
}

/** Starts a server on `port`. `settings` are those of postgresql.conf. */
export async function startTcpPostgres(
  cluster: string,
  settings: readonly string[] = [],
  port?: number,
): Promise<TcpPostgres> {
  const chosen = port ?? (await findFreePort())
  const user = chooseUser(cluster)
  const { command, prefix, as } = commandAs(user, findBinaries().postgres, [cluster])
  const own = ['listen_addresses=127.0.0.1', `unix_socket_directories=${cluster}`, ...settings]
  const flags = own.flatMap((setting) => ['-c', setting])
  const args = [...prefix, '-D', cluster, '-p', String(chosen), ...flags]
  const child = spawn(command, args, { ...as, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const end = () => child.kill('SIGQUIT')
  process.once('exit', end)
  const socket = `postgres://${USER}@${encodeURIComponent(cluster)}:${chosen}/postgres`
  const admin = connect({ url: socket }, { connections: 1, patient: true })
  const isUp = () => admin`select 1`.then(() => true).catch(() => false)
  await until('the server', isUp).catch((error) => {
    throw new Error(`${error.message}\n${log}`)
  })
  await admin.end({ timeout: 1 })
  return {
    port: chosen,
    cluster,
    log: () => log,
    url: (host = '127.0.0.1', parameters = '') =>
      `postgres://${USER}@${host}:${chosen}/postgres${parameters}`,
    kill: () => signalServer(child.pid ?? 0, 'SIGKILL'),
    async stop() {
      process.off('exit', end)
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGINT')
      await once(child, 'exit')
    },
  }
}
