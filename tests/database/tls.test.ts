/** TLS as a managed PostgreSQL offers it: the authority in `sslrootcert`, the name verified. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openClient } from '../../server/base/database/connection/open-client.ts'
import { chooseUser } from '../../server/base/database/embedded/binaries.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { createRandom } from '../../testbed/random.ts'
import {
  createCluster,
  startTcpPostgres,
  type TcpPostgres,
} from '../support/database/tcp-postgres.ts'

/** About one in forty ended the process when the client began TLS by itself. */
const GIVEN_UP = 150

let folder: string
let named: TcpPostgres
let plain: TcpPostgres

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
}

function createAuthority(name: string): void {
  const subject = ['-subj', `/CN=${name}`, '-days', '2', '-nodes']
  openssl('req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', `${name}.key`, '-out', name)
}

/** Creates a cluster whose certificate is for `localhost` alone, and takes no plain connection. */
function createTlsCluster(cluster: string): void {
  createCluster(cluster, ['local all all trust', 'hostssl all all 127.0.0.1/32 trust'])
  const key = join(cluster, 'server.key')
  const certificate = join(cluster, 'server.crt')
  writeFileSync(join(folder, 'extensions'), 'subjectAltName = DNS:localhost\n')
  const request = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', 'request']
  openssl('req', ...request, '-subj', '/CN=db')
  const signer = ['-CA', 'right.pem', '-CAkey', 'right.pem.key', '-CAcreateserial', '-days', '2']
  openssl(
    'x509',
    '-req',
    '-in',
    'request',
    ...signer,
    '-extfile',
    'extensions',
    '-out',
    certificate,
  )
  const user = chooseUser(cluster)
  chmodSync(key, 0o600)
  if (user) for (const path of [key, certificate]) chownSync(path, user.uid, user.gid)
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tributary-tls-'))
  chmodSync(folder, 0o755)
  createAuthority('right.pem')
  createAuthority('wrong.pem')
  createTlsCluster(join(folder, 'named'))
  named = await startTcpPostgres(join(folder, 'named'), ['ssl=on'])
  createCluster(join(folder, 'plain'), ['local all all trust', 'host all all 127.0.0.1/32 trust'])
  plain = await startTcpPostgres(join(folder, 'plain'))
})
after(async () => {
  await Promise.all([named?.stop(), plain?.stop()])
  rmSync(folder, { recursive: true, force: true })
})

const root = (name: string) => `sslrootcert=${join(folder, name)}`

/** Opens the database as a start does. */
async function open(server: TcpPostgres, host: string, parameters: string): Promise<void> {
  const databaseUrl = server.url(host, `?${parameters}`)
  const dataDir = join(folder, 'data')
  const database = await openDatabase({ databaseUrl, dataDir, owner: true })
  await database.stop()
}

for (const { host, mode } of [
  { host: 'localhost', mode: 'verify-full' },
  { host: '127.0.0.1', mode: 'verify-ca' },
  { host: '127.0.0.1', mode: 'require' },
]) {
  test(`${host} with ${mode} and its own authority is accepted`, async () => {
    await open(named, host, `sslmode=${mode}&${root('right.pem')}`)
  })
}

test('another authority is refused', async () => {
  for (const mode of ['verify-full', 'verify-ca', 'require']) {
    await assert.rejects(
      open(named, 'localhost', `sslmode=${mode}&${root('wrong.pem')}`),
      /certificate of the database is signed by an authority that is not trusted.*sslrootcert/,
    )
  }
  await assert.rejects(open(named, 'localhost', 'sslmode=verify-full'), /sslrootcert/)
})

test('a host that the certificate does not name is refused', async () => {
  await assert.rejects(
    open(named, '127.0.0.1', `sslmode=verify-full&${root('right.pem')}`),
    /certificate of the database is not for the host 127\.0\.0\.1.*sslmode=verify-ca/,
  )
})

test('a server without TLS is refused', async () => {
  await assert.rejects(
    open(plain, 'localhost', `sslmode=verify-full&${root('right.pem')}`),
    /the database does not offer TLS/,
  )
})

test('prefer uses TLS where it is offered, and does without elsewhere', async () => {
  await open(named, 'localhost', 'sslmode=prefer')
  await open(plain, 'localhost', 'sslmode=prefer')
})

const nextTurn = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve)
  })

test('connections that are given up in the middle of TLS leave no error behind', async () => {
  const url = named.url('localhost', `?sslmode=verify-full&${root('right.pem')}`)
  const random = createRandom(7)
  for (let count = 0; count < GIVEN_UP; count += 1) {
    const dropped = new AbortController()
    const sql = openClient({ url }, {}, {}, AbortSignal.timeout(60_000), dropped.signal)
    const answered = sql`select 1`.catch(() => undefined)
    const turns = random.next() * 30
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    // A process that is busy meanwhile gets several steps of the handshake at once.
    const until = performance.now() + random.next() * 20
    while (performance.now() < until);
    if (count % 2 === 0) await nextTurn()
    void sql.end({ timeout: 0 })
    dropped.abort()
    await answered
  }
})

test('a server that closes the connection, or fails, before TLS is unavailable, not without TLS', async () => {
  for (const answer of [undefined, 'E']) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => (answer ? socket.end(answer) : socket.destroy()))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const sql = openClient({ url: `postgres://u@127.0.0.1:${port}/x?sslmode=require` }, {})
    await assert.rejects(sql`select 1`, (error) => isUnavailable(error))
    await sql.end({ timeout: 0 })
    server.close()
  }
})
