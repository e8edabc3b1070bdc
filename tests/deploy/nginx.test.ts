/** The configuration of nginx is valid, and passes calls, streams and WebSockets to a gateway. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { findFreePort } from '../support/free-port.ts'
import { startTestGateway } from '../support/in-process.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const hasNginx = spawnSync('nginx', ['-v']).error === undefined

/** Returns the configuration for one gateway on this machine. */
function configure(text: string, folder: string, port: number, gatewayUrl: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  const here = `daemon off; user ${userInfo().username}; pid ${folder}/pid; error_log ${folder}/log;`
  return `${here}\n${text}`
    .replace('http {', `http { ${paths}`)
    .replace(/server gateway-1:8080/, `server ${new URL(gatewayUrl).host}`)
    .replace(/\n.*server gateway-2:8080.*/, '')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('/dev/stdout', `${folder}/access.log`)
}

test('calls, streams and WebSockets pass nginx', { skip: !hasNginx }, async (t) => {
  const gateway = await startTestGateway()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-nginx-'))
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const path = join(folder, 'nginx.conf')
  const text = readFileSync(join(ROOT, 'deploy', 'nginx', 'nginx.conf'), 'utf8')
  writeFileSync(path, configure(text, folder, port, gateway.url))
  const nginx = await startProcess(['nginx', '-c', path, '-p', folder])
  t.after(async () => {
    await nginx.stop(2_000)
    await gateway.stop()
    rmSync(folder, { recursive: true })
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
