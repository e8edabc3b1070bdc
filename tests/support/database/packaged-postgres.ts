/** PostgreSQL as a distribution packages it, with its own defaults, on a private cluster. */
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../server/base/database/connection/client.ts'
import { chooseUser, commandAs, letPass } from '../../../server/base/database/embedded/binaries.ts'
import type { EmbeddedServer } from '../../../server/base/database/embedded/embedded.ts'
import { ensureRunning } from '../../../server/base/database/embedded/ensure-running.ts'
import {
  prepareDataDir,
  prepareFolders,
  readPassword,
} from '../../../server/base/database/embedded/folders.ts'
import {
  findRunning,
  findSocketFolder,
  reportsReady,
  stopServer,
} from '../../../server/base/database/embedded/postmaster.ts'
import { createDatabaseIfAbsent } from '../../../server/base/database/store.ts'

const PACKAGES = '/usr/lib/postgresql'
const VERSION_MIN = 14
const USER = 'tributary'
const DATABASE = 'tributary'
const STOP_MS = 10_000

/** The programs of the oldest PostgreSQL of Debian's packages, or undefined. */
export const packagedBinaries = findPackaged()

/** Why there is none here, or false. */
export const noPackagedPostgres = packagedBinaries
  ? false
  : `no PostgreSQL from ${VERSION_MIN} in ${PACKAGES}`

function findPackaged(): string | undefined {
  if (!existsSync(PACKAGES)) return undefined
  return readdirSync(PACKAGES)
    .map(Number)
    .filter((version) => version >= VERSION_MIN)
    .sort((a, b) => a - b)
    .map((version) => join(PACKAGES, String(version), 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')))
}

export interface PackagedOptions {
  /** A new folder, or that of an earlier server. */
  readonly dataDir: string
  /** The folder of initdb and postgres. */
  readonly binaries: string
  /** Lines of postgresql.conf: all others keep the distribution's value. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts a server as the embedded one is started, of which it is the counterpart. */
export async function startPackaged(options: PackagedOptions): Promise<EmbeddedServer> {
  const { dataDir: given, binaries, settings = {} } = options
  const dataDir = prepareDataDir(given)
  const cluster = join(dataDir, 'postgres')
  const user = chooseUser(cluster)
  letPass(dataDir, user)
  const folder = prepareFolders(dataDir, user, findSocketFolder(cluster))
  const { socketFolder, port } = folder
  const password = readPassword(dataDir)
  const place = { socketFolder, port, user: USER, password, database: DATABASE }

  function initialise(): void {
    mkdirSync(cluster, { mode: 0o700 })
    const file = join(socketFolder, 'password')
    writeFileSync(file, password, { mode: 0o600 })
    if (user) for (const path of [cluster, file]) chownSync(path, user.uid, user.gid)
    const found = commandAs(user, join(binaries, 'initdb'), [cluster, file])
    const names = ['-D', cluster, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${file}`]
    const args = [...found.prefix, ...names, '-N', '-E', 'UTF8', '--locale=C.UTF-8']
    execFileSync(found.command, args, { ...found.as, cwd: '/', stdio: 'ignore' })
    rmSync(file)
  }

  if (!existsSync(join(cluster, 'PG_VERSION'))) initialise()
  const own = { listen_addresses: '', ...settings }
  const programs = { initdb: join(binaries, 'initdb'), postgres: join(binaries, 'postgres') }
  const progress = () => undefined
  const start = () =>
    ensureRunning({ binaries: programs, user, folder, place, settings: own, progress })
  const adopted = await start()
  const admin = connect(place, { database: 'postgres', connections: 1, patient: true })
  await createDatabaseIfAbsent(admin, DATABASE)
  await admin.end()
  return {
    place,
    adopted,
    pid: () => findRunning(cluster),
    async revive() {
      const isUp = findRunning(cluster) !== undefined && reportsReady(folder)
      return isUp ? false : !(await start())
    },
    async stop() {
      const pid = findRunning(cluster)
      if (pid !== undefined) await stopServer(pid, STOP_MS)
    },
  }
}
