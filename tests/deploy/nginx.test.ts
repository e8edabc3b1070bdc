/** nginx as Compose runs it passes everything to a gateway, and follows gateways that move. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { startDnsServer } from '../support/dns-server.ts'
import { findFreePort } from '../support/free-port.ts'
import { startTestGateway } from '../support/in-process.ts'
import { NGINX_RESOLVES, NGINX_VERSION, startNginx } from '../support/nginx.ts'
import { until } from '../support/until.ts'

const noNginx = NGINX_VERSION ? false : 'needs nginx'
const noResolve = NGINX_RESOLVES ? false : 'needs nginx 1.27.3 (NGINX is the path of its binary)'

test('calls, streams and WebSockets pass nginx', { skip: noNginx }, async (t) => {
  const gateway = await startTestGateway()
  const nginx = await startNginx([new URL(gateway.url).host])
  const { url } = nginx
  t.after(async () => {
    await nginx.stop()
    await gateway.stop()
  })
  await until('nginx', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok)

  const { key } = await gateway.tenant({ balance: '10' })
  const authorization = `Bearer ${key}`
  const call = (stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sim-chat',
        stream,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    })
  assert.equal((await call(false)).status, 200)
  assert.match(await (await call(true)).text(), /data: \[DONE\]\n\n$/)

  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization },
  })
  await once(socket, 'open')
  socket.close()
  await once(socket, 'close')
})

test('a stream passes an nginx with its own defaults as it comes', { skip: noNginx }, async (t) => {
  const gateway = await startTestGateway()
  const nginx = await startNginx([new URL(gateway.url).host], { asInstalled: true })
  t.after(async () => {
    await nginx.stop()
    await gateway.stop()
  })
  const { url } = nginx
  await until('nginx', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok)
  const { key } = await gateway.tenant({ balance: '10' })
  const content = 'hi [[chunks:10]] [[chunk-delay:300]]'
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sim-chat',
      stream: true,
      messages: [{ role: 'user', content }],
    }),
  })
  const decoder = new TextDecoder()
  let text = ''
  let openAtFirst: number | undefined
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part as Uint8Array)
    openAtFirst ??= (await gateway.sql`select 1 from hold where state = 'open'`).length
  }
  // The last bytes of a stream leave once it is settled: one that is kept back has no open hold.
  assert.equal(openAtFirst, 1)
  assert.match(text, /data: \[DONE\]\n\n$/)
})

/** Starts a server in a gateway's place, which answers with its own address. */
async function startStandIn(t: TestContext, host: string, port: number): Promise<() => void> {
  const server = createServer((_, response) => void response.end(host))
  server.listen(port, host)
  await once(server, 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  t.after(stop)
  return stop
}

test('nginx finds gateways at other addresses, and leaves out one that is gone', {
  skip: noResolve,
}, async (t) => {
  const dns = await startDnsServer()
  const port = await findFreePort()
  dns.addresses.set('gateway-1', '127.0.0.11').set('gateway-2', '127.0.0.12')
  const stopBoth = [
    await startStandIn(t, '127.0.0.11', port),
    await startStandIn(t, '127.0.0.12', port),
  ]
  const nginx = await startNginx({ dnsPort: dns.port, port })
  t.after(async () => {
    await nginx.stop()
    await dns.stop()
  })
  const ask = async () => {
    const answer = await fetch(nginx.url).catch(() => undefined)
    return answer?.ok ? await answer.text() : undefined
  }
  const untilFrom = async (...hosts: readonly string[]) => {
    const seen = new Set<string>()
    await until(`answers of ${hosts.join(' and ')}`, async () => {
      seen.add((await ask()) ?? '')
      return hosts.every((host) => seen.has(host)) ? true : undefined
    })
  }
  await untilFrom('127.0.0.11', '127.0.0.12')

  // Both are created anew at once, and get other addresses.
  for (const stop of stopBoth) stop()
  await startStandIn(t, '127.0.0.13', port)
  const stopFourth = await startStandIn(t, '127.0.0.14', port)
  dns.addresses.set('gateway-1', '127.0.0.13').set('gateway-2', '127.0.0.14')
  await untilFrom('127.0.0.13', '127.0.0.14')

  // One is removed: its name does not exist until it is created again.
  dns.addresses.delete('gateway-2')
  stopFourth()
  for (let count = 0; count < 50; count += 1) assert.equal(await ask(), '127.0.0.13')
  await startStandIn(t, '127.0.0.15', port)
  dns.addresses.set('gateway-2', '127.0.0.15')
  await untilFrom('127.0.0.13', '127.0.0.15')
})

test('the nginx of Compose has what its configuration needs', () => {
  const compose = readFileSync(new URL('../../compose.yaml', import.meta.url), 'utf8')
  const [, major, minor] = /image: nginx:(\d+)\.(\d+)/.exec(compose) ?? []
  assert.ok(Number(major) === 1 && Number(minor) >= 28, 'resolve in an upstream came with 1.27.3')
})
