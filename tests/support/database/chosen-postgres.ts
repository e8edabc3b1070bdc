/** The PostgreSQL that a run was told to use. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect } from '../../../server/base/database/connection/client.ts'
import type { DatabasePlace } from '../../../server/base/database/connection/open-client.ts'
import {
  type EmbeddedServer,
  startEmbedded,
} from '../../../server/base/database/embedded/embedded.ts'
import { packagedBinaries, startPackaged } from './packaged-postgres.ts'

/**
 * `embedded`; `debian`, its package as installed; the folder of another version's programs; or the
 * URL of a running server, whose role may create databases.
 */
export type PostgresChoice = string

/** Returns what the runner was told; the processes of its tests inherit it. */
export function runChoice(): PostgresChoice {
  return process.env.TEST_POSTGRES_CHOICE ?? 'embedded'
}

const POSTGRES_HELP = 'embedded, debian, a folder of programs, or the URL of a server'

export interface ChosenOptions {
  readonly choice?: PostgresChoice | undefined
  readonly dataDir: string
  /** Lines of postgresql.conf; a server that is running already keeps its own. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A server like the embedded one. That of a URL has no process, and does not stop. */
export interface ChosenServer extends Omit<EmbeddedServer, 'place' | 'adopted'> {
  readonly place: DatabasePlace
  /** The DATABASE_URL of its database. */
  readonly url: string
}

/** Starts the server, or creates a database on that of the URL, which `stop` drops. */
export async function startChosen(options: ChosenOptions): Promise<ChosenServer> {
  const { choice = 'embedded', dataDir, settings = {} } = options
  if (choice.includes('://')) return await createThere(choice)
  const binaries = choice === 'debian' ? packagedBinaries : choice
  if (choice === 'embedded') {
    const server = await startEmbedded({ dataDir, settings })
    return { ...server, url: urlOf(server.place) }
  }
  if (!binaries || !existsSync(join(binaries, 'initdb'))) {
    throw new Error(`there is no PostgreSQL at ${choice}: name ${POSTGRES_HELP}`)
  }
  const server = await startPackaged({ dataDir, binaries, settings })
  return { ...server, url: urlOf(server.place) }
}

/** Returns the DATABASE_URL of a place. */
export function urlOf(place: DatabasePlace): string {
  if ('url' in place) return place.url
  const { user, password, socketFolder, port, database } = place
  return `postgres://${user}:${password}@${encodeURIComponent(socketFolder)}:${port}/${database}`
}

/** Returns the place of another database on the same server. */
export function onDatabase(place: DatabasePlace, database: string): DatabasePlace {
  if (!('url' in place)) return { ...place, database }
  const url = new URL(place.url)
  url.pathname = `/${database}`
  return { url: url.href }
}

/** Returns the DATABASE_URL of the same database through a socket in another folder. */
export function throughSocket(place: DatabasePlace, folder: string, port: number): string {
  const url = new URL(urlOf(place))
  const [, credentials] = /^[^@]*\/\/([^@]*)@/.exec(url.href) ?? []
  return `postgres://${credentials}@${encodeURIComponent(folder)}:${port}${url.pathname}`
}

/** Connects to a server as its clients do. */
export function dialServer(place: DatabasePlace): Socket {
  if (!('url' in place)) return dial(`${place.socketFolder}/.s.PGSQL.${place.port}`)
  const { hostname, port } = new URL(place.url)
  return dial(Number(port || 5432), hostname)
}

async function createThere(address: string): Promise<ChosenServer> {
  const name = `tributary_${randomBytes(6).toString('hex')}`
  const admin = connect({ url: address }, { connections: 1, patient: true, statementTimeoutMs: 0 })
  await admin.unsafe(`create database ${name}`)
  const place = onDatabase({ url: address }, name)
  return {
    place,
    url: urlOf(place),
    pid: () => undefined,
    revive: async () => false,
    async stop() {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end()
    },
  }
}
