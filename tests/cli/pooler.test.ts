/** Commands behind a pooler that gives too few connections: refused soon, with the reason. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openCommandLine, runWith } from './support.ts'

/** Opens a pool of `size` connections: further ones wait without an answer until one is free. */
async function openPooler(t: TestContext, environment: NodeJS.ProcessEnv, size: number) {
  const url = new URL(environment.DATABASE_URL ?? '')
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const port = Number(url.port || 5432)
  const sockets = new Set<Socket>()
  const waiting: Socket[] = []
  let free = size
  const serve = (client: Socket) => {
    free -= 1
    const server = host.startsWith('/') ? dial(`${host}/.s.PGSQL.${port}`) : dial(port, host)
    sockets.add(server)
    client.on('close', () => server.destroy())
    client.pipe(server).on('error', () => client.destroy())
    server.pipe(client)
    server.once('close', () => {
      free += 1
      const next = waiting.shift()
      if (next) serve(next)
    })
  }
  const pooler = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    if (free > 0) serve(client)
    else waiting.push(client)
  })
  pooler.listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  t.after(() => {
    pooler.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = new URL(environment.DATABASE_URL ?? '')
  address.searchParams.delete('host')
  address.host = `127.0.0.1:${(pooler.address() as AddressInfo).port}`
  return { ...environment, DATABASE_URL: String(address) }
}

test('one connection at a time: the second waits, as in a pool of one', async (t) => {
  const { environment } = await openCommandLine(t)
  const pooled = await openPooler(t, environment, 1)
  const { code, err } = await runWith(pooled, ['account', 'list'])
  assert.equal(code, 1)
  assert.match(err, /a second one waits: .* Raise its default_pool_size/)
})

for (const size of [2, 3]) {
  test(`a pool of ${size} is enough for every command`, async (t) => {
    const { environment, folder, run } = await openCommandLine(t)
    assert.equal((await run('account', 'create', '--name', 'Ann', '--balance', '5')).code, 0)
    const pooled = await openPooler(t, environment, size)
    mkdirSync(join(folder, 'files'))
    const copy = join(folder, 'copy')
    for (const words of [
      ['migrate'],
      ['account', 'list'],
      ['account', 'create', '--name', 'Bob'],
      ['audit', '--archives'],
      ['backup', '--to', copy, '--files'],
      ['restore', '--from', copy, '--verify'],
      ['archive', 'create', '--older-than', '1m'],
      ['archive', 'verify'],
      ['checkpoint', '--out', join(folder, 'checkpoint.json')],
      ['export'],
      ['files', 'verify'],
      ['config'],
    ]) {
      const { code, err } = await runWith(pooled, words)
      assert.equal(code, 0, `${words.join(' ')}: ${code} ${err}`)
      assert.doesNotMatch(err, /waits|pool_size/)
    }
  })
}
