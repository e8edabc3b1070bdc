/** Commands and starts wait for a server that lets nobody in yet. */
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { backup } from '../../server/base/database/backup/backup.ts'
import { restore } from '../../server/base/database/backup/restore.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { dialServer } from '../support/database/chosen-postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { MIGRATIONS, makeEmpty, makeFolder, makeSource } from './backup/support.ts'

/** Longer than a gateway waits for a connection. */
const SLOW_MS = 2_300

/** A place like that of `database`, where `admit` decides when a connection is let through. */
async function standBefore(
  t: TestContext,
  { url, place }: TestDatabase,
  admit: (socket: Socket) => Promise<boolean>,
): Promise<string> {
  const open = new Set<Socket>()
  const server = createServer(async (socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    if (!(await admit(socket))) return
    const inner = dialServer(place)
    open.add(inner)
    inner.on('error', () => socket.destroy())
    socket.on('close', () => inner.destroy())
    socket.pipe(inner).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  return url.replace(/@[^/]+\//, `@127.0.0.1:${address.port}/`)
}

/** As PostgreSQL refuses a connection while it starts. */
function refuseStarting(socket: Socket): void {
  const fields = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0'
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(4 + Buffer.byteLength(fields), 1)
  socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(fields)])))
}

const options = (t: TestContext, databaseUrl: string, patient: boolean) => {
  return { databaseUrl, dataDir: makeFolder(t), owner: true, patient }
}

for (const [who, patient] of [
  ['a command', true],
  ['a gateway', false],
] as const) {
  test(`${who} waits until a loaded server answers, and says so`, async (t) => {
    const told = Promise.withResolvers<string>()
    const url = await standBefore(t, await makeSource(t), () => told.promise.then(() => true))
    const database = await openDatabase({ ...options(t, url, patient), onProgress: told.resolve })
    assert.match(await told.promise, /waiting for the database/)
    assert.equal((await database.sql`select 1 as one`)[0]?.one, 1)
    await database.stop()
  })

  test(`${who} waits while the server is starting`, async (t) => {
    let refusals = 3
    const url = await standBefore(t, await makeSource(t), async (socket) => {
      refusals -= 1
      if (refusals >= 0) refuseStarting(socket)
      return refusals < 0
    })
    await (await openDatabase(options(t, url, patient))).stop()
    assert.ok(refusals < 0)
  })
}

test('a gateway that has opened its database waits for no other connection', async (t) => {
  let admits = true
  const url = await standBefore(t, await makeSource(t), async () => admits)
  const database = await openDatabase(options(t, url, false))
  admits = false
  for (const sql of [database.sql, database.pagesSql]) {
    assert.equal((await sql`select 1 as one`)[0]?.one, 1)
  }
  await database.stop()
})

test('a missing server is reported at once', async (t) => {
  const url = 'postgres://tributary@127.0.0.1:1/tributary'
  await assert.rejects(openDatabase(options(t, url, true)), /cannot reach .* ECONNREFUSED/)
})

test('a backup is taken and restored where every connection is slow', async (t) => {
  const [source, target] = [await makeSource(t), await makeEmpty(t)]
  const slowly = () => sleep(SLOW_MS).then(() => true)
  const folder = join(makeFolder(t), 'copy')
  await backup({
    place: { url: await standBefore(t, source, slowly) },
    kind: 'external',
    target: folder,
    secretKeyPath: undefined,
  })
  const restored = await restore({
    place: { url: await standBefore(t, target, slowly) },
    from: folder,
    migrations: MIGRATIONS,
  })
  assert.ok(restored.compared.same)
})
