/** The oldest PostgreSQL of an operating system's packages, run as an operator would run one. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../server/database/connection/client.ts'
import { chooseUser } from '../../../server/database/embedded/binaries.ts'
import { until } from '../until.ts'

const PACKAGES = '/usr/lib/postgresql'
const VERSION_MIN = 14

const binaries = findBinaries()

/** Why there is none here, or false. */
export const noOlderPostgres = binaries ? false : `no PostgreSQL from ${VERSION_MIN} in ${PACKAGES}`

function findBinaries(): string | undefined {
  if (!existsSync(PACKAGES)) return undefined
  return readdirSync(PACKAGES)
    .map(Number)
    .filter((version) => version >= VERSION_MIN)
    .sort((a, b) => a - b)
    .map((version) => join(PACKAGES, String(version), 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')))
}

export interface OlderPostgres {
  /** As the superuser. */
  readonly url: string
  /** A database whose owner may do nothing else, as a managed PostgreSQL would give it. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

/** `settings` are those of postgresql.conf, for example `fsync=off`. */
export async function startOlderPostgres(settings: readonly string[] = []): Promise<OlderPostgres> {
  if (!binaries) throw new Error('there is no older PostgreSQL')
  const folder = mkdtempSync(join(tmpdir(), 'tributary-older-'))
  const cluster = join(folder, 'cluster')
  const user = chooseUser(cluster)
  mkdirSync(cluster)
  if (user) for (const path of [folder, cluster]) chownSync(path, user.uid, user.gid)
  const as = { ...user, cwd: '/', stdio: 'ignore' } as const
  const initdb = ['-D', cluster, '-U', 'operator', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C']
  execFileSync(join(binaries, 'initdb'), initdb, as)
  const options = ['listen_addresses=', `unix_socket_directories=${folder}`, ...settings]
  const flags = options.flatMap((option) => ['-c', option])
  const child = spawn(join(binaries, 'postgres'), ['-D', cluster, ...flags], as)
  const address = encodeURIComponent(folder)
  const url = `postgres://operator@${address}/postgres`
  const admin = connect({ url }, { connections: 1 })
  await until('the server', () => admin`select 1`.then(() => true).catch(() => false))
  return {
    url,
    async createDatabase(name) {
      await admin.unsafe(`create role ${name} login`)
      await admin.unsafe(`create database ${name} owner ${name}`)
      return `postgres://${name}@${address}/${name}`
    },
    async stop() {
      await admin.end({ timeout: 1 })
      child.kill('SIGINT')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
